#pragma once
// What other settings of a workload would bring.

#include "actors/admission/parallel_choices.hpp"
#include "actors/simulation/forecast.hpp"
#include "runtime/base/bytes.hpp"

#include <cstddef>

namespace hydra {

/// One way to divide the steps of its models.
struct parallel_forecast {
  parallel_choice choice;
  byte_count host;       ///< that the run would need
  forecast expected;
};

/// Devices with more memory.
struct memory_forecast {
  double times = 1;      ///< the memory that they have
  byte_count memory;     ///< of the smallest of them
  std::size_t shards = 0;  ///< of all models
  forecast expected;
};

}  // namespace hydra
