#pragma once
// Why a model fails, as its user reads it.

#include "runtime/base/ids.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>
#include <string>

namespace hydra {

/// With possible causes: before the first update it cannot be the learning rate. `step` counts from 1.
std::string not_finite_text(std::uint32_t step, double loss);

/// The same of an evaluation after `steps` steps.
std::string not_finite_validation_text(std::uint32_t steps, double loss);

/// Its last failure.
struct unit_failure {
  unit what;
  std::string why;
  std::size_t failures = 0;  ///< of this unit, for the same reason
  device_id last;            ///< where
};

/// "model 'gpt-a' step 3 backward 0 attempt 2: WHY (it has failed 3 times, the last time on device 1)".
std::string unit_failure_text(const std::string& model, const unit_failure& f);

}  // namespace hydra
