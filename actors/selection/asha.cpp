#include "actors/selection/asha.hpp"

#include "actors/selection/rungs.hpp"

#include <algorithm>
#include <cmath>

namespace hydra {

asha::asha(std::vector<std::string> trials, std::vector<std::uint32_t> rungs, std::uint32_t factor)
    : trials_{std::move(trials)},
      rungs_{std::move(rungs)},
      factor_{factor},
      out_(trials_.size()),
      arrivals_(rungs_.size() - 1) {}

std::string asha::describe() const {
  return "asha: " + std::to_string(trials_.size()) + " trials; as they arrive, " + describe_rungs(rungs_, factor_);
}

std::vector<trial_decision> asha::result(const trial_result& arrived) {
  const std::size_t trial = place_of_trial(trials_, arrived.trial);
  const auto rung = rung_at(rungs_, arrived.steps);
  if (!rung) return {{arrived.trial, arrived.steps, trial_verdict::go_on}};
  auto& there = arrivals_[*rung];
  if (const auto before = std::ranges::find(there, trial, &arrival::trial); before != there.end())
    return {before->decision};
  if (out_[trial]) return {{arrived.trial, arrived.steps, trial_verdict::stop}};
  there.push_back({arrived.score, trial, {arrived.trial, arrived.steps, trial_verdict::wait}});
  return with_own_first(decide(), arrived);
}

std::vector<trial_decision> asha::ended(const std::string& trial) {
  const std::size_t place = place_of_trial(trials_, trial);
  out_[place] = true;
  const auto waits = [place](const arrival& a) {
    return a.trial == place && a.decision.verdict == trial_verdict::wait;
  };
  for (auto& there : arrivals_) std::erase_if(there, waits);
  return decide();
}

bool asha::has_arrived(std::size_t trial, std::size_t rung) const {
  return std::ranges::count(arrivals_[rung], trial, &arrival::trial) > 0;
}

std::size_t asha::still_to_come(std::size_t rung) const {
  std::size_t n = 0;
  for (std::size_t trial = 0; trial < trials_.size(); ++trial) n += !out_[trial] && !has_arrived(trial, rung);
  return n;
}

/// Upwards: whoever stops at a rung does not come to the next ones.
std::vector<trial_decision> asha::decide() {
  std::vector<trial_decision> made;
  for (std::size_t rung = 0; rung < arrivals_.size(); ++rung) decide_rung(rung, made);
  return made;
}

void asha::decide_rung(std::size_t rung, std::vector<trial_decision>& made) {
  auto& there = arrivals_[rung];
  std::ranges::sort(there, [](const arrival& a, const arrival& b) {
    return is_better({a.score, a.trial}, {b.score, b.trial});
  });
  const auto finite =
      static_cast<std::size_t>(std::ranges::count_if(there, [](const arrival& a) { return std::isfinite(a.score); }));
  const std::size_t coming = still_to_come(rung), now = std::min(finite, there.size() / factor_);
  const std::size_t at_last = std::max<std::size_t>(1, (there.size() + coming) / factor_);
  const std::size_t going_on = coming == 0 ? at_last : now;
  for (std::size_t i = 0; i < there.size(); ++i) {
    arrival& a = there[i];
    if (a.decision.verdict != trial_verdict::wait || (i >= going_on && i < at_last)) continue;
    a.decision.verdict = i < going_on ? trial_verdict::go_on : trial_verdict::stop;
    a.decision.rank = static_cast<std::uint32_t>(i + 1);
    a.decision.ranked = static_cast<std::uint32_t>(there.size());
    if (i >= going_on) out_[a.trial] = true;
    made.push_back(a.decision);
  }
}

}  // namespace hydra
