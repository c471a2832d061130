#pragma once
// "Did you mean ...": the known name nearest to a mistyped one.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hydra {

/// Number of insertions, deletions and substitutions that turn `a` into `b` (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that people also call `name` ("gpu" for "cuda"), else one that contains `name`, else any, with the smallest
/// edit distance to it, the first of equals; empty if there is none.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

/// nearest_name() if people call it `name`, if it contains that, or if at most half of its letters (rounded up) differ; else
/// empty: not worth a question.
std::string near_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace hydra
