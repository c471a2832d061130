#pragma once
// Population based training (Jaderberg et al. 2017: Population based training of neural networks): bad trials begin
// again from the state of good ones, with other values. Standard library only.

#include "actors/selection/search_settings.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace hydra {

/// Every `every` steps a result is compared with those that other trials had after as many steps and that have arrived
/// before. If it is in the worst quarter, its trial stops, and a new one begins with the newest state of a trial of the
/// best quarter that still trains ("truncation selection", section 4.1.1), and with its values explored. Random choices
/// depend on the seed, the name of the trial and its steps only; decisions depend on the order of results:
/// search_record keeps them.
class pbt final : public search_rule {
 public:
  /// Reads trials, steps, every, seed and space. Throws fault_error{bad_input} unless every >= 1.
  explicit pbt(search_settings settings);

  std::string describe() const override;
  std::uint32_t next_rung(const std::string& trial, std::uint32_t steps) const override;
  std::vector<trial_decision> result(const trial_result& arrived) override;
  std::vector<trial_decision> ended(const std::string& trial) override;

 private:
  struct member {
    search_trial is;
    std::size_t slot = 0;      ///< place of the trial of the workload that it goes back to
    std::uint32_t newest = 0;  ///< steps of its newest result
    bool out = false;          ///< ended or stopped
  };
  struct arrival {
    double score = 0;
    std::size_t trial = 0;
    trial_decision decision;
  };

  std::size_t place(const std::string& trial) const;
  /// The best quarter of the arrivals that still train.
  std::vector<std::size_t> sources(const std::vector<arrival>& best_first) const;
  trial_copy copy_for(std::size_t trial, std::uint32_t steps, const std::vector<std::size_t>& sources);
  std::string new_name(std::size_t slot) const;

  search_settings settings_;
  std::vector<member> population_;                          ///< those of the workload, then the new ones
  std::map<std::uint32_t, std::vector<arrival>> arrivals_;  ///< by steps, best first
};

}  // namespace hydra
