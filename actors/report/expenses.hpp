#pragma once
// What a run has taken: time of devices, money and energy, divided among the models that have shared the devices.

#include "actors/protocol/expense.hpp"
#include "actors/report/expense_terms.hpp"
#include "actors/report/shared_expense.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/device/energy_reading.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// What one device has done in a run.
struct device_work {
  std::vector<duration> computed{};  ///< for each model; those behind the last one: nothing
  duration used{};                   ///< from the begin of its first unit to the end of its last
  std::optional<energy_reading> measured{};
};

/// All of it since the begin of the run.
struct run_work {
  duration makespan{};  ///< or the time so far: for that its devices are paid
  std::vector<device_work> devices{};
  std::optional<energy_reading> host{};  ///< measured
  std::size_t models = 0;
  std::vector<bool> ended{};             ///< models that are not trained any more; those behind the last one are
};

struct run_expenses {
  expense all{};  ///< the sum of the devices' and the host's, and of the models' but for what belongs to none of them
  std::vector<expense> devices{};
  expense host{};
  std::vector<expense> models{};
};

/// A device is paid for the makespan, or from its first unit to its last; its energy is what was measured, else
/// busy * P_busy + idle * P_idle over that time. The models' shares are those of a run as one period
/// (expense_account.hpp).
run_expenses expenses_of(const run_work& work, const run_terms& terms);

/// `names`: of its models.
shared_expense by_name(const run_expenses& e, std::span<const std::string> names);

/// Adds to each model its share of `e`, by weights of time (and cost) and of energy; equal shares if all weights are 0.
/// Weights behind the models' are of none of them.
void divide(const expense& e, std::span<const double> time, std::span<const double> joules, std::span<expense> models);

/// Whole numbers in proportion to `weights`, which are not negative, whose sum is `total`; each is less than 1 from its
/// share. Equal shares if all weights are 0.
std::vector<std::int64_t> apportioned(std::int64_t total, std::span<const double> weights);

/// "1.2345".
std::string to_string(money m);

/// Hours, minutes and seconds: "0:01:02.345".
std::string clock_text(duration time);

/// Grams of carbon dioxide.
double carbon_of(std::int64_t joules, double grams_per_kwh);

}  // namespace hydra
