#pragma once
// "Did you mean ...": the known name nearest to a mistyped one.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Number of insertions, deletions, substitutions and swaps of two neighbours that turn `a` into `b` (Damerau and
/// Levenshtein; no letter is edited twice).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate for which `name` is a common alias ("gpu" for "cuda"); else one that contains `name` (at least three
/// letters); else the one with the smallest edit distance to it, if it has the same digits and at most a third of the
/// letters (rounded up) differ, without the parts between "_" that both begin or end with; the first of equals. Empty
/// if no candidate is close enough to suggest.
std::string near_name(std::string_view name, std::span<const std::string> candidates);

/// Up to `most` of the candidates, the nearest first.
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> candidates,
                                       std::size_t most);

/// The text that follows the refusal of an unknown name: `; did you mean "width"? (known: heads, width)`, without the
/// question if no candidate is near.
std::string known_instead(std::string_view name, std::span<const std::string> candidates);

/// Throws fault_error{bad_input} with the text `WHAT "NAME"`, such as `there is no policy "x"`, and known_instead().
[[noreturn]] void refuse_unknown(std::string_view what, std::string_view name, std::span<const std::string> known);

/// The one that has this name; `name_of` is a member or a function. Throws as refuse_unknown().
template <class Things, class Name>
const auto& find_known(std::string_view what, const Things& things, const std::string& name, Name name_of) {
  const auto found = std::ranges::find(things, name, name_of);
  if (found != std::ranges::end(things)) return *found;
  std::vector<std::string> known;
  for (const auto& each : things) known.emplace_back(std::invoke(name_of, each));
  refuse_unknown(what, name, known);
}

}  // namespace hydra
