#pragma once
// What a workload would take, and what other settings of it would bring.

#include "actors/admission/parallel_choices.hpp"
#include "actors/simulation/forecast.hpp"
#include "runtime/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// One way to divide the steps of its models.
struct parallel_forecast {
  parallel_choice choice;
  byte_count host;         ///< that the run would need
  std::size_t shards = 0;  ///< of all models
  forecast expected;
};

/// The first steps of a workload, trained before it is predicted.
struct rehearsal_summary {
  std::uint32_t steps = 0;  ///< of each model, or all that it has
  duration makespan{};      ///< of these steps
  double overhead = 1;      ///< that makespan / the simulated one with exactly these times: messages between actors
  double spread = 0;  ///< mean deviation of a computation's time from the mean of its kind, as a share of that mean
};

/// Devices with more memory.
struct memory_forecast {
  double times = 1;      ///< the memory that they have
  byte_count memory;     ///< of the smallest of them
  std::size_t shards = 0;  ///< of all models
  forecast expected;
};

/// Devices that differ in nothing but their names, and cost the same: any of them may be used instead of another.
struct device_class {
  std::string name;                  ///< of the first one, and how many there are: "cpu:0 to cpu:3"
  std::vector<std::size_t> members;  ///< places in the workload
};

/// The workload on some of its devices.
struct device_choice {
  std::vector<std::size_t> counts;  ///< so many of each class
  std::optional<forecast> expected{};  ///< none: `refused`
  expense least{};                  ///< no schedule on these devices takes less: its cost and its energy
  std::string refused{};            ///< why it does not fit
};

struct device_choices {
  std::vector<device_class> classes;
  std::vector<device_choice> all;  ///< the whole workload first, then by falling numbers of devices
  bool complete = true;            ///< every number of devices of each class; false: 0, 1, 2, 4, ... and all
};

}  // namespace hydra
