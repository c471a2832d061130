#pragma once
// The loss of a chain, whose faults name it.

#include "models/chain.hpp"
#include "runtime/base/tensor_fwd.hpp"

#include <optional>

namespace hydra {

/// loss::sum() of an output of the chain, fp32 []. What it throws names the loss and both shapes. Throws
/// fault_error{bad_input} for a result that is not one number.
at::Tensor summed_loss(const chain& model, const at::Tensor& output, const at::Tensor& targets);

/// loss::correct(), likewise.
std::optional<at::Tensor> counted_correct(const chain& model, const at::Tensor& output, const at::Tensor& targets);

}  // namespace hydra
