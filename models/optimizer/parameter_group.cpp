#include "models/optimizer/parameter_group.hpp"

#include <algorithm>

namespace hydra {

const parameter_group* group_of(std::span<const parameter_group> groups, const std::string& name) {
  const auto last = std::find_if(groups.rbegin(), groups.rend(),
                                 [&name](const parameter_group& g) { return g.parameters.matches(name); });
  return last == groups.rend() ? nullptr : &*last;
}

}  // namespace hydra
