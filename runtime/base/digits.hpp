#pragma once
// Texts that are numbers without a sign. Standard library only.

#include <string_view>

namespace hydra {

/// Of decimal digits alone, and not empty; of any length.
constexpr bool is_digits(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace hydra
