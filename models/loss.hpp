#pragma once
// Losses: the sum over targets; the visit divides by the step's number of targets, known before the first forward.

#include "models/tensor_spec.hpp"
#include "runtime/base/tensor_fwd.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Thread-safe because const. Both functions throw fault_error{bad_input} for targets that do not fit the output.
class loss {
 public:
  virtual ~loss() = default;

  /// Scalar fp32: sum of the losses of all targets of one micro-batch, differentiable in `output`.
  virtual at::Tensor sum(const at::Tensor& output, const at::Tensor& targets) const = 0;

  /// "cross-entropy".
  virtual std::string name() const = 0;

  /// Scalar fp32, without gradient: the number of counted targets whose class has the largest output. Empty if targets
  /// are not classes.
  virtual std::optional<at::Tensor> correct(const at::Tensor& output, const at::Tensor& targets) const;

  /// Whether targets of -100 contribute nothing: then a last micro-batch can be filled with such.
  virtual bool masks() const { return true; }

  /// Whether correct() has a result for targets that are classes (i64).
  virtual bool counts_correct() const { return false; }

  /// The same loss of what a head in pieces leaves for each token (pieces/class_statistics.hpp): fp32 [..., 12]. Null:
  /// it needs the logits themselves.
  virtual std::shared_ptr<const loss> of_pieces() const { return nullptr; }
};

/// The input of a loss: the output in fp32, whatever the chain computes in.
at::Tensor in_fp32(const at::Tensor& output);

/// output fp32 [..., classes], targets i64 [...]; targets of -100 are masked (contribute nothing, not counted).
std::shared_ptr<const loss> cross_entropy();

/// Squared error. The mean over a step is that of torch's mse_loss over all values that count.
/// Targets i64 [...] are classes of an output fp32 [..., classes]: each contributes the mean over the classes of
/// (output - one-hot)^2; -100 is masked as for cross entropy.
/// Targets fp32 of the output's shape: each value contributes (output - target)^2, none is masked; the data source
/// counts values (a source that counts samples gets the sum over a sample's values instead of their mean).
std::shared_ptr<const loss> mse();

/// The loss of that name. Throws fault_error{bad_input} with the nearest known name.
std::shared_ptr<const loss> make_loss(std::string_view name);

/// Names for `loss = "..."`.
std::vector<std::string> loss_names();

}  // namespace hydra
