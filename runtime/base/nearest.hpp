#pragma once
// "Did you mean ...": the known name nearest to a mistyped one.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hydra {

/// Number of insertions, deletions and substitutions that turn `a` into `b` (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that people also call `name` ("gpu" for "cuda"), else one that contains `name` (of three letters at least),
/// else one of which at most half of the letters (rounded up) differ, with the smallest edit distance to it, the first of
/// equals; empty if there is none: not worth a question.
std::string near_name(std::string_view name, std::span<const std::string> candidates);

/// What goes behind the refusal of an unknown name: `; did you mean "width"? (known: heads, width)`, without the question if
/// none is near.
std::string known_instead(std::string_view name, std::span<const std::string> candidates);

}  // namespace hydra
