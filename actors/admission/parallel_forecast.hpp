#pragma once
// What one way to divide the steps of a workload would bring.

#include "actors/admission/parallel_choices.hpp"
#include "actors/simulation/forecast.hpp"
#include "runtime/base/bytes.hpp"

namespace hydra {

struct parallel_forecast {
  parallel_choice choice;
  byte_count host;       ///< that the run would need
  forecast expected;
};

}  // namespace hydra
