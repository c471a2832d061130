#include "models/layers/rope_scaling.hpp"

#include <array>

namespace hydra {

std::string to_string(rope_scaling::kind how) {
  static constexpr std::array names{"none", "linear", "llama3", "longrope"};
  return names.at(static_cast<std::size_t>(how));
}

}  // namespace hydra
