#pragma once
// Losses: the sum over targets; the visit divides by the step's number of targets, known before the first forward.

#include "models/tensor_spec.hpp"

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>

namespace hydra {

class loss {
 public:
  virtual ~loss() = default;

  /// Scalar fp32: sum of the losses of all targets of one micro-batch, differentiable in `output`.
  virtual at::Tensor sum(const at::Tensor& output, const at::Tensor& targets) const = 0;

  /// Scalar fp32: how many of the targets that count are predicted (the largest output); nothing where that means nothing.
  virtual std::optional<at::Tensor> correct(const at::Tensor& /*output*/, const at::Tensor& /*targets*/) const {
    return std::nullopt;
  }
  /// True if correct() answers.
  virtual bool counts_correct() const { return false; }

  /// "cross-entropy".
  virtual std::string name() const = 0;
};

/// output fp32 [..., classes], targets i64 [...]; targets of -100 are masked (contribute nothing, not counted).
std::shared_ptr<const loss> cross_entropy();

}  // namespace hydra
