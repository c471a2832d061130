#pragma once
// Hyperband (Li et al. 2018: A novel bandit-based approach to hyperparameter optimization): brackets of successive
// halving whose first rung is later and later, in case short training misleads. Standard library only.

#include "actors/selection/halving.hpp"

#include <vector>

namespace hydra {

/// There is a bracket for each rung: bracket b begins at rung b, the last one trains all of its trials to their end. Of
/// a given number of trials each bracket gets the share that it has in the paper (algorithm 1, line 3). Trials are
/// dealt to the brackets by their place in the workload. A pure function of histories, as each of its brackets.
class hyperband final : public search_rule {
 public:
  /// `rungs`: rung_steps().
  hyperband(const std::vector<std::string>& trials, const std::vector<std::uint32_t>& rungs, std::uint32_t factor);

  std::string describe() const override;
  std::uint32_t compares_after(const std::string& trial, std::uint32_t steps) const override {
    return brackets_[bracket_of(trial)].compares_after(trial, steps);
  }
  std::vector<trial_decision> result(const trial_result& arrived) override;
  std::vector<trial_decision> ended(const std::string& trial) override;

 private:
  std::size_t bracket_of(const std::string& trial) const;

  std::vector<std::string> trials_;
  std::vector<std::size_t> brackets_of_;  ///< of each trial
  std::vector<halving> brackets_;
};

/// The bracket of each of `trials` trials, with so many rungs.
std::vector<std::size_t> deal_to_brackets(std::size_t trials, std::size_t rungs, std::uint32_t factor);

}  // namespace hydra
