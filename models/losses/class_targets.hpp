#pragma once
// Targets that are classes, for the losses that accept them.

#include "models/data_source.hpp"
#include "runtime/base/tensor_fwd.hpp"

#include <cstdint>
#include <string_view>

namespace hydra {

/// A target that contributes nothing.
constexpr std::int64_t masked_target = uncounted_target;

/// Throws fault_error{bad_input} unless targets are i64 [...] for an output [..., classes]. `who` names the loss.
void require_classes(std::string_view who, const at::Tensor& output, const at::Tensor& targets);

/// Scalar fp32: number of targets whose class has the largest output (of equal ones the first).
at::Tensor count_correct(const at::Tensor& output, const at::Tensor& targets);

}  // namespace hydra
