#include "models/frozen/freezing.hpp"

#include "runtime/base/refuse.hpp"

#include <algorithm>

namespace hydra {

void freezing::check(std::span<const std::string> names) const {
  patterns_.check("freeze", "parameter of the model", names);
  if (std::ranges::none_of(names, [this](const std::string& name) { return matches(name); }))
    refuse(
        "\"freeze\" freezes nothing: all that it names is excepted by \"!\"; begin with what is to be frozen, such as "
        "\"*\"");
}

}  // namespace hydra
