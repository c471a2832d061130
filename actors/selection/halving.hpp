#pragma once
// Successive halving (Jamieson and Talwalkar 2016: Non-stochastic best arm identification and hyperparameter
// optimization): at each rung the best part of the trials goes on. Standard library only.

#include "actors/selection/rungs.hpp"
#include "actors/selection/search_rule.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace hydra {

/// A rung decides when every trial that has reached it, and has not ended on the way, has a result there; one of
/// `factor`, rounded up, goes on. A pure function of the trials' histories: neither the order of events nor repeated
/// results change a decision. For that, a result counts even if its trial ended later while it waited: whether the end
/// comes before the decision depends on the schedule.
class halving final : public search_rule {
 public:
  /// `rungs`: rung_steps().
  halving(std::vector<std::string> trials, std::vector<std::uint32_t> rungs, std::uint32_t factor);

  std::string describe() const override;
  std::uint32_t compares_after(const std::string&, std::uint32_t steps) const override {
    return rung_behind(rungs_, steps);
  }
  std::vector<trial_decision> result(const trial_result& arrived) override;
  std::vector<trial_decision> ended(const std::string& trial) override;

  const std::vector<std::string>& trials() const { return trials_; }
  /// "1 of 3 goes on after 50, 150 and 450 of 1000 steps".
  std::string rule() const;

 private:
  bool has_stopped(std::size_t trial) const;
  bool is_complete() const;
  /// Decides the rungs that are complete.
  std::vector<trial_decision> decide();
  void decide_rung(std::vector<trial_decision>& made);

  std::vector<std::string> trials_;
  std::vector<std::uint32_t> rungs_;
  std::uint32_t factor_;
  std::vector<bool> ended_;
  std::map<trial_at, double> scores_;
  std::map<trial_at, trial_decision> decided_;
  std::size_t rung_ = 0;              ///< the first that has not decided
  std::vector<std::size_t> members_;  ///< of that rung, in the order of the workload
};

}  // namespace hydra
