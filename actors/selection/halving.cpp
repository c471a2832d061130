#include "actors/selection/halving.hpp"

#include "actors/selection/rungs.hpp"

#include <algorithm>
#include <numeric>

namespace hydra {

halving::halving(std::vector<std::string> trials, std::vector<std::uint32_t> rungs, std::uint32_t factor)
    : trials_{std::move(trials)},
      rungs_{std::move(rungs)},
      factor_{factor},
      ended_(trials_.size()),
      members_(trials_.size()) {
  std::iota(members_.begin(), members_.end(), 0);
}

std::string halving::describe() const { return "halving: " + std::to_string(trials_.size()) + " trials; " + rule(); }

std::string halving::rule() const { return describe_rungs(rungs_, factor_); }

std::vector<trial_decision> halving::result(const trial_result& arrived) {
  const std::size_t trial = place_of_trial(trials_, arrived.trial);
  const auto rung = rung_at(rungs_, arrived.steps);
  if (!rung) return {{arrived.trial, arrived.steps, trial_verdict::go_on}};
  const trial_at at{trial, *rung};
  if (const auto before = decided_.find(at); before != decided_.end()) return {before->second};
  if (ended_[trial] || has_stopped(trial)) return {{arrived.trial, arrived.steps, trial_verdict::stop}};
  scores_.emplace(at, arrived.score);
  return with_own_first(decide(), arrived);
}

std::vector<trial_decision> halving::ended(const std::string& trial) {
  ended_[place_of_trial(trials_, trial)] = true;
  return decide();
}

bool halving::has_stopped(std::size_t trial) const {
  const auto is_stop = [trial](const auto& d) {
    return d.first.first == trial && d.second.verdict == trial_verdict::stop;
  };
  return std::ranges::any_of(decided_, is_stop);
}

bool halving::is_complete() const {
  return std::ranges::all_of(members_, [this](std::size_t trial) {
    return ended_[trial] || scores_.contains({trial, rung_});
  });
}

std::vector<trial_decision> halving::decide() {
  std::vector<trial_decision> made;
  while (rung_ + 1 < rungs_.size() && is_complete()) decide_rung(made);
  return made;
}

void halving::decide_rung(std::vector<trial_decision>& made) {
  const std::vector<ranked_score> ranked = best_first(members_, rung_, scores_);
  const std::size_t going_on = (ranked.size() + factor_ - 1) / factor_;
  members_.clear();
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const std::size_t trial = ranked[i].trial;
    if (i < going_on) members_.push_back(trial);
    made.push_back({trials_[trial], rungs_[rung_], i < going_on ? trial_verdict::go_on : trial_verdict::stop,
                    static_cast<std::uint32_t>(i + 1), static_cast<std::uint32_t>(ranked.size())});
    decided_.emplace(trial_at{trial, rung_}, made.back());
  }
  std::ranges::sort(members_);
  ++rung_;
}

}  // namespace hydra
