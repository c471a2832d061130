#pragma once
// Asynchronous successive halving (Li et al. 2020: A system for massively parallel hyperparameter tuning, algorithm 2):
// a trial goes on as soon as it is among the best of those that have arrived at its rung. Standard library only.

#include "actors/selection/rungs.hpp"
#include "actors/selection/search_rule.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

/// Of n results at a rung the best n / factor, rounded down, go on; the others wait for results that make that number
/// larger. Unlike the paper's the trials are given: one stops as soon as it could not go on even if all that can still
/// arrive were worse, and of a rung where no more can arrive at least one goes on. Before that no trial goes on whose
/// score is not finite: those that arrive may be better. Decisions depend on the order of
/// events: search_record keeps them.
class asha final : public search_rule {
 public:
  /// `rungs`: rung_steps().
  asha(std::vector<std::string> trials, std::vector<std::uint32_t> rungs, std::uint32_t factor);

  std::string describe() const override;
  std::uint32_t compares_after(const std::string&, std::uint32_t steps) const override {
    return rung_behind(rungs_, steps);
  }
  std::vector<trial_decision> result(const trial_result& arrived) override;
  std::vector<trial_decision> ended(const std::string& trial) override;

 private:
  struct arrival {
    double score = 0;
    std::size_t trial = 0;
    trial_decision decision;
  };

  std::vector<trial_decision> decide();
  /// Decides about those that wait at a rung, best first.
  void decide_rung(std::size_t rung, std::vector<trial_decision>& made);
  bool has_arrived(std::size_t trial, std::size_t rung) const;
  /// Trials that train or wait and have no result at the rung yet.
  std::size_t still_to_come(std::size_t rung) const;

  std::vector<std::string> trials_;
  std::vector<std::uint32_t> rungs_;
  std::uint32_t factor_;
  std::vector<bool> out_;                       ///< ended or stopped, of each trial
  std::vector<std::vector<arrival>> arrivals_;  ///< at each rung that decides, best first
};

}  // namespace hydra
