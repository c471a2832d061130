#pragma once
// Population based training (Jaderberg et al. 2017: Population based training of neural networks): bad trials begin
// again from the state of good ones, with other values. Standard library only.

#include "actors/selection/rungs.hpp"
#include "actors/selection/search_settings.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hydra {

/// Every `every` steps, when all of the population that have not ended have a result, the trials of the worst quarter
/// stop, and for each a copy begins there of a trial of the best quarter, with its values explored ("truncation
/// selection", section 4.1.1). Unlike the paper's the population advances together: that makes it, as halving, a pure
/// function of the trials' histories and the seed.
class pbt final : public search_rule {
 public:
  /// Reads trials, steps, every, seed and space. Throws fault_error{bad_input} unless every >= 1.
  explicit pbt(search_settings settings);

  std::string describe() const override;
  bool copies() const override { return true; }
  std::uint32_t compares_after(const std::string& trial, std::uint32_t steps) const override;
  std::vector<trial_decision> result(const trial_result& arrived) override;
  std::vector<trial_decision> ended(const std::string& trial) override;

 private:
  struct member {
    search_trial is;
    std::size_t slot = 0;  ///< place of the trial of the workload that it goes back to
    bool ended = false;
    bool stopped = false;
  };

  std::size_t place(const std::string& trial) const;
  bool is_complete() const;
  /// Decides the comparisons that are complete.
  std::vector<trial_decision> decide();
  void compare(std::vector<trial_decision>& made);
  /// `best`: places of trials, the best one first.
  trial_copy copy_for(std::size_t trial, const std::vector<std::size_t>& best);
  std::string new_name(std::size_t slot) const;

  search_settings settings_;
  std::vector<member> all_;              ///< those of the workload, then the copies
  std::vector<std::size_t> population_;  ///< that the next comparison is about
  std::uint32_t at_;                     ///< steps of that
  std::map<trial_at, double> scores_;
  std::map<trial_at, trial_decision> decided_;
};

/// The search is one by pbt, whose copies have such names.
bool names_a_copy(const search_settings& settings, std::string_view name);

}  // namespace hydra
