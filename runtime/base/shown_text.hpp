#pragma once
// How messages show text that comes from files and peers. Standard library only.

#include <cstddef>
#include <string>
#include <string_view>

namespace hydra {

/// Bytes of a quoted value.
inline constexpr std::size_t most_shown = 200;

/// A value, quoted by a message: at most most_shown bytes, "…" behind if more was there. Control characters (C0, C1,
/// DEL), those that turn the direction or the line of text, and bytes that are not UTF-8 are written as "\n", "\x1b",
/// "\u202e"; so the result is UTF-8 that no terminal obeys.
std::string shown(std::string_view value);

/// A whole text for a terminal: the same, but line breaks, tabs and the length stay.
std::string printable(std::string_view text);

/// The same without line breaks and tabs: a cell of a table.
std::string on_one_line(std::string_view text);

/// Whether a name needs none of that: it may stand anywhere as it is.
bool is_printable(std::string_view name);

}  // namespace hydra
