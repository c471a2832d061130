#include "actors/selection/rungs.hpp"

#include "runtime/base/refuse.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace hydra {

std::vector<std::uint32_t> rung_steps(std::uint32_t first, std::uint32_t factor, std::uint32_t steps) {
  if (first == 0 || factor < 2 || steps == 0)
    refuse("rungs need first and steps of at least 1, and a factor of at least 2");
  std::vector<std::uint32_t> rungs;
  for (std::uint64_t at = first; at < steps; at *= factor) rungs.push_back(static_cast<std::uint32_t>(at));
  rungs.push_back(steps);
  return rungs;
}

std::optional<std::size_t> rung_at(const std::vector<std::uint32_t>& rungs, std::uint32_t steps) {
  const auto found = std::ranges::find(rungs, steps);
  if (found == rungs.end() || found + 1 == rungs.end()) return std::nullopt;
  return static_cast<std::size_t>(found - rungs.begin());
}

std::uint32_t rung_behind(const std::vector<std::uint32_t>& rungs, std::uint32_t steps) {
  const auto next = std::ranges::upper_bound(rungs, steps);
  return next == rungs.end() || next + 1 == rungs.end() ? 0 : *next;
}

bool is_better(const ranked_score& a, const ranked_score& b) {
  const bool a_bad = !std::isfinite(a.score), b_bad = !std::isfinite(b.score);
  return std::tuple(a_bad, a_bad ? 0 : a.score, a.trial) < std::tuple(b_bad, b_bad ? 0 : b.score, b.trial);
}

std::vector<ranked_score> best_first(const std::vector<std::size_t>& trials, std::size_t where,
                                     const std::map<trial_at, double>& scores) {
  std::vector<ranked_score> ranked;
  for (const std::size_t trial : trials)
    if (const auto score = scores.find({trial, where}); score != scores.end()) ranked.push_back({score->second, trial});
  std::ranges::sort(ranked, is_better);
  return ranked;
}

std::size_t place_of_trial(const std::vector<std::string>& trials, const std::string& name) {
  const auto found = std::ranges::find(trials, name);
  if (found == trials.end()) refuse("the search has no trial \"" + name + "\"");
  return static_cast<std::size_t>(found - trials.begin());
}

std::vector<trial_decision> with_own_first(std::vector<trial_decision> made, const trial_result& arrived) {
  const auto own = std::ranges::find_if(
      made, [&](const trial_decision& d) { return d.trial == arrived.trial && d.steps == arrived.steps; });
  if (own == made.end())
    made.insert(made.begin(), {arrived.trial, arrived.steps, trial_verdict::wait});
  else
    std::rotate(made.begin(), own, own + 1);
  return made;
}

std::string describe_rungs(const std::vector<std::uint32_t>& rungs, std::uint32_t factor) {
  if (rungs.size() == 1) return "all train their " + std::to_string(rungs.back()) + " steps";
  std::string text = "1 of " + std::to_string(factor) + " goes on after ";
  for (std::size_t i = 0; i + 1 < rungs.size(); ++i) {
    if (i > 0) text += i + 2 == rungs.size() ? " and " : ", ";
    text += std::to_string(rungs[i]);
  }
  return text + " of " + std::to_string(rungs.back()) + " steps";
}

}  // namespace hydra
