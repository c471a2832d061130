#pragma once
// "Did you mean ...": the known name nearest to a mistyped one.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Number of insertions, deletions and substitutions that turn `a` into `b` (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Hydra's name for what is commonly called `name` ("learning_rate" for "lr"); empty if that is not a common alias.
std::string known_as(std::string_view name);

/// The candidate for which `name` is a common alias ("gpu" for "cuda"); else one that contains `name` (at least three
/// letters); else the one with the smallest edit distance to it, if at most half of the letters (rounded up) differ;
/// the first of equals. Empty if no candidate is close enough to suggest.
std::string near_name(std::string_view name, std::span<const std::string> candidates);

/// Up to `most` of the candidates, the nearest first.
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> candidates,
                                       std::size_t most);

/// The text that follows the refusal of an unknown name: `; did you mean "width"? (known: heads, width)`, without the
/// question if no candidate is near.
std::string known_instead(std::string_view name, std::span<const std::string> candidates);

}  // namespace hydra
