#pragma once
// Why a model fails, as its user reads it.

#include "runtime/base/ids.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>
#include <string>

namespace hydra {

/// With possible causes: before the first update it cannot be the learning rate. `step` counts from 1.
std::string not_finite_text(std::uint32_t step, double loss);

/// `failures`: of this unit, for the same reason.
std::string unit_failure_text(const unit& u, const std::string& why, std::size_t failures, device_id last);

}  // namespace hydra
