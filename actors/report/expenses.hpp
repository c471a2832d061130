#pragma once
// What a run has taken: time of devices, money and energy, divided among the models that have shared the devices.

#include "actors/protocol/expense.hpp"
#include "actors/report/expense_terms.hpp"
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

struct run_work {
  duration makespan{};
  std::vector<device_work> devices{};
  std::optional<energy_reading> host{};  ///< measured
  std::size_t models = 0;
};

struct run_expenses {
  expense all{};  ///< the sum of the devices' and the host's, and of the models'
  std::vector<expense> devices{};
  expense host{};
  std::vector<expense> models{};
};

/// A device is paid for the makespan, or from its first unit to its last; its energy is what was measured, else
/// busy * P_busy + idle * P_idle over that time. Of time, cost and energy of a device each model gets the share that it
/// has of the device's computing time: idle time is divided like busy time. A device that has computed nothing, and the
/// host, are divided by the models' computing time on all devices.
run_expenses expenses_of(const run_work& work, const run_terms& terms);

/// Whole numbers in proportion to `weights`, which are not negative, whose sum is `total`; each is less than 1 from its
/// share. Equal shares if all weights are 0.
std::vector<std::int64_t> apportioned(std::int64_t total, std::span<const duration> weights);

/// "1.2345".
std::string to_string(money m);

/// Hours, minutes and seconds: "0:01:02.345".
std::string clock_text(duration time);

/// Grams of carbon dioxide.
double carbon_of(std::int64_t joules, double grams_per_kwh);

}  // namespace hydra
