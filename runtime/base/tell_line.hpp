#pragma once
// How a program speaks to the person at its terminal, besides its results.

#include <string_view>

namespace hydra {

/// Prints a line on stderr, as printable(): names and folders come from files that others may have written. Never
/// throws, as fmt::print does where stderr is a full disk or a closed terminal: no run ends because nobody can read of
/// it.
void tell_line(std::string_view text) noexcept;

}  // namespace hydra
