#pragma once
// A line of TOML and what it is for.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace hydra::apps {

/// The comment stands behind the code, or above it where both together are too long for a line.
inline std::string commented(std::string_view code, std::string_view why) {
  constexpr std::size_t column = 44, most = 120;
  if (std::max(code.size() + 2, column) + 2 + why.size() > most) return fmt::format("# {}\n{}\n", why, code);
  return fmt::format("{:<{}}# {}\n", fmt::format("{}  ", code), column, why);
}

}  // namespace hydra::apps
