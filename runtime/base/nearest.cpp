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

/// A name that people commonly use, and Hydra's name for the same thing.
constexpr std::pair<std::string_view, std::string_view> other_names[]{{"gpu", "cuda"},
                                                                      {"nvidia", "cuda"},
                                                                      {"lr", "learning_rate"},
                                                                      {"warmup_steps", "warmup"},
                                                                      {"num_warmup_steps", "warmup"},
                                                                      {"max_steps", "steps"},
                                                                      {"num_epochs", "epochs"},
                                                                      {"num_train_epochs", "epochs"},
                                                                      {"max_length", "context"},
                                                                      {"max_seq_length", "context"},
                                                                      {"max_grad_norm", "clip_norm"},
                                                                      {"gradient_accumulation_steps", "micro_batches"}};

constexpr std::size_t most_listed = 24;

bool is_other_name(std::string_view name, std::string_view known) {
  return std::ranges::find(other_names, std::pair{name, known}) != std::end(other_names);
}

/// A name of one or two letters is part of almost any other name.
bool is_part_of(std::string_view name, std::string_view known) {
  return name.size() >= 3 && known.find(name) != std::string_view::npos;
}

/// Smaller for a nearer candidate.
auto distance(std::string_view name, const std::string& candidate) {
  return std::tuple{!is_other_name(name, candidate), !is_part_of(name, candidate), edit_distance(name, candidate)};
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);  // distances of the prefix of `a` read so far to each prefix of `b`
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::string known_as(std::string_view name) {
  const auto found = std::ranges::find(other_names, name, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(other_names) ? "" : std::string{found->second};
}

std::string near_name(std::string_view name, std::span<const std::string> candidates) {
  const auto nearest = std::ranges::min_element(candidates, {}, [&](const auto& each) { return distance(name, each); });
  if (nearest == candidates.end()) return "";
  const bool near = edit_distance(name, *nearest) * 2 <= std::max(name.size(), nearest->size()) + 1;
  return is_other_name(name, *nearest) || is_part_of(name, *nearest) || near ? *nearest : "";
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
