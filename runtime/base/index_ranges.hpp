#pragma once
// Ascending indices as text. Standard library only.

#include <cstddef>
#include <span>
#include <string>

namespace hydra {

/// "0-3,5" of 0, 1, 2, 3, 5.
inline std::string index_ranges(std::span<const std::size_t> ascending) {
  std::string text;
  for (std::size_t first = 0, past = 0; first < ascending.size(); first = past) {
    for (past = first + 1; past < ascending.size() && ascending[past] == ascending[past - 1] + 1;) ++past;
    text += (text.empty() ? "" : ",") + std::to_string(ascending[first]);
    if (past - first > 1) text += "-" + std::to_string(ascending[past - 1]);
  }
  return text;
}

}  // namespace hydra
