#pragma once
// Divides what a run takes among its models, while they come and go.

#include "actors/report/expenses.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace hydra {

/// Between two moments at which a model comes or goes (a period), of time, cost and energy of a device each model gets
/// the share that it has of the device's computing time: idle time is divided like busy time. A device that has
/// computed nothing in a period, and the host, are divided by the models' computing time on all devices. So a model
/// that has ended does not pay for what comes then.
class expense_account {
 public:
  /// What is taken in a period in which nothing is computed belongs to the models, or to none of them: those of a node
  /// of a cluster may be elsewhere.
  enum class waiting : std::uint8_t { of_models, of_none };

  explicit expense_account(run_terms terms, waiting belongs = waiting::of_models)
      : terms_(std::move(terms)), belongs_(belongs) {}

  /// A model comes or goes. A period in which nothing was computed is one with the next, if that belongs to the models.
  void close_period(const run_work& so_far);
  /// If the run ended now. Where nothing was computed in the last period, and that belongs to the models, it is divided
  /// among those that have not ended, by what they have computed before.
  run_expenses so_far(const run_work& work) const;

 private:
  /// Of a device or the host; in any unit.
  struct shares {
    std::vector<double> of_models{};
    double of_none = 0;

    void add(double amount, const std::vector<double>& by, bool has_owner);
    /// Of none behind those of the models.
    std::vector<double> all() const;
  };
  struct both_shares {
    shares time{};
    shares joules{};
  };

  void divide_until(const run_work& work);

  run_terms terms_;
  waiting belongs_;
  run_work closed_{};  ///< at the end of the last period
  std::vector<both_shares> devices_{};
  both_shares host_{};
};

}  // namespace hydra
