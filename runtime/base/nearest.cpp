#include "runtime/base/nearest.hpp"

#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

namespace hydra {

namespace {

/// A name that people commonly use, and Hydra's name for the same thing. Those of other programs' settings:
/// apps/workload/other_words.cpp.
constexpr std::pair<std::string_view, std::string_view> other_names[]{{"gpu", "cuda"}, {"nvidia", "cuda"}};

constexpr std::size_t most_listed = 24;

bool is_other_name(std::string_view name, std::string_view known) {
  return std::ranges::find(other_names, std::pair{name, known}) != std::end(other_names);
}

/// A name of one or two letters is part of almost any other name.
bool is_part_of(std::string_view name, std::string_view known) {
  return name.size() >= 3 && known.find(name) != std::string_view::npos;
}

/// Without the parts that both have at their beginning and at their end: "eval" and "every" of eval_steps and
/// every_steps.
std::pair<std::string_view, std::string_view> own_parts(std::string_view a, std::string_view b) {
  const auto first = [](std::string_view s) { return s.substr(0, s.find('_')); };
  const auto last = [](std::string_view s) { return s.substr(s.rfind('_') + 1); };
  const auto shorten = [](std::string_view s, std::size_t by) { return s.substr(std::min(by + 1, s.size())); };
  while (!a.empty() && !b.empty() && first(a) == first(b)) {
    const std::size_t same = first(a).size();
    a = shorten(a, same);
    b = shorten(b, same);
  }
  while (!a.empty() && !b.empty() && last(a) == last(b)) {
    const std::size_t same = last(a).size();
    a = a.substr(0, a.size() - std::min(same + 1, a.size()));
    b = b.substr(0, b.size() - std::min(same + 1, b.size()));
  }
  return {a, b};
}

std::string digits_of(std::string_view name) {
  std::string digits;
  std::ranges::copy_if(name, std::back_inserter(digits), [](char c) { return c >= '0' && c <= '9'; });
  return digits;
}

/// A slip of the fingers. Names of other numbers are other things (fp16, fp32), and so are those of which only a common
/// part is alike.
bool is_mistyped(std::string_view name, std::string_view known) {
  const auto [a, b] = own_parts(name, known);
  return digits_of(name) == digits_of(known) && edit_distance(a, b) * 3 <= std::max(a.size(), b.size()) + 1;
}

bool is_near(std::string_view name, std::string_view known) {
  return is_other_name(name, known) || is_part_of(name, known) || is_mistyped(name, known);
}

/// Smaller for a nearer candidate.
auto distance(std::string_view name, const std::string& candidate) {
  return std::tuple{!is_other_name(name, candidate), !is_part_of(name, candidate), edit_distance(name, candidate)};
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Distances of the prefix of `a` read so far to each prefix of `b`; `before`: of the prefix without its last letter.
  std::vector<std::size_t> row(b.size() + 1), before, earlier;
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    earlier = std::exchange(before, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = before[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({substituted, before[j + 1] + 1, row[j] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], earlier[j - 1] + 1);
    }
  }
  return row.back();
}

std::string near_name(std::string_view name, std::span<const std::string> candidates) {
  const std::string* nearest = nullptr;
  for (const std::string& each : candidates)
    if (is_near(name, each) && (!nearest || distance(name, each) < distance(name, *nearest))) nearest = &each;
  return nearest ? *nearest : "";
}

std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> candidates,
                                       std::size_t most) {
  std::vector<std::string> names(candidates.begin(), candidates.end());
  std::ranges::stable_sort(names, {}, [&](const auto& each) { return distance(name, each); });
  names.resize(std::min(names.size(), most));
  return names;
}

std::string known_instead(std::string_view name, std::span<const std::string> candidates) {
  if (candidates.empty()) return "; there is none";
  const std::string near = near_name(name, candidates);
  std::string text = (near.empty() ? "" : "; did you mean \"" + shown(near) + "\"?") + std::string{" (known: "};
  const bool all = candidates.size() <= most_listed;
  const auto listed = all ? std::vector<std::string>(candidates.begin(), candidates.end())
                          : nearest_names(name, candidates, most_listed / 2);
  for (const std::string& known : listed) text += (&known == &listed.front() ? "" : ", ") + shown(known);
  return text + (all ? ")" : ", and " + std::to_string(candidates.size() - listed.size()) + " more)");
}

void refuse_unknown(std::string_view what, std::string_view name, std::span<const std::string> known) {
  refuse(std::string{what} + " \"" + shown(name) + '"' + known_instead(name, known));
}

}  // namespace hydra
