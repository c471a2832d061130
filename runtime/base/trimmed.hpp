#pragma once
// Texts without blanks around them. Standard library only.

#include <algorithm>
#include <string_view>

namespace hydra {

inline constexpr std::string_view ascii_blanks = " \t\r\n";

/// `text` without these characters at its start; empty if it has no others.
inline std::string_view trimmed_start(std::string_view text, std::string_view of = ascii_blanks) {
  return text.substr(std::min(text.find_first_not_of(of), text.size()));
}

/// The same at its start and end.
inline std::string_view trimmed(std::string_view text, std::string_view of = ascii_blanks) {
  text = trimmed_start(text, of);
  return text.substr(0, text.find_last_not_of(of) + 1);
}

}  // namespace hydra
