#pragma once
// Whether the parameters with which a training ends are finite: after the last update no loss tells.

#include "models/parameter_layout.hpp"
#include "partition/execute/sharded_model.hpp"

#include <cstdint>

namespace hydra {

/// Whether `step` (from 0) is the last one of a model that is to fail for such parameters.
bool checks_parameters(const sharded_model& model, std::uint32_t step) noexcept;

/// Throws fault_error{not_finite} with the name of the parameter, after the last step of its model.
[[noreturn]] void refuse_not_finite(const sharded_model& model, const placed_parameter& p);

}  // namespace hydra
