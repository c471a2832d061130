#pragma once
// A number and a noun. Standard library only.

#include <concepts>
#include <string>
#include <string_view>

namespace hydra {

/// "1 model", "3 models".
std::string counted(std::integral auto n, std::string_view noun) {
  return std::to_string(n) + " " + std::string{noun} + (n == 1 ? "" : "s");
}

}  // namespace hydra
