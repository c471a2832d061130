#include "models/loss.hpp"
#include "models/losses/class_targets.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/eq_ops.h>
#include <ATen/ops/mse_loss_ops.h>
#include <ATen/ops/zeros_like_ops.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hydra {
namespace {

at::Tensor squared_distance(const at::Tensor& a, const at::Tensor& b) {
  return at::_ops::mse_loss::call(a, b, at::Reduction::Sum);
}

/// A masked row becomes zero on both sides.
at::Tensor distance_to_classes(const at::Tensor& output, const at::Tensor& targets) {
  const at::Tensor masked = at::_ops::eq_Scalar::call(targets, masked_target).unsqueeze(-1);
  const at::Tensor zeros = at::_ops::zeros_like::call(output.detach(), {}, {}, {}, {}, {});
  const at::Tensor one_hot = zeros.scatter_(-1, targets.clamp_min(0).unsqueeze(-1), 1).masked_fill_(masked, 0);
  return squared_distance(output.masked_fill(masked, 0), one_hot).div(static_cast<double>(output.size(-1)));
}

class squared_error final : public loss {
 public:
  at::Tensor sum(const at::Tensor& output, const at::Tensor& targets) const override {
    if (!targets.is_floating_point()) {
      require_classes(name(), output, targets);
      return distance_to_classes(output, targets);
    }
    require_equal_shape(output, targets);
    return squared_distance(output, targets);
  }

  std::string name() const override { return "mse"; }

  std::optional<at::Tensor> correct(const at::Tensor& output, const at::Tensor& targets) const override {
    if (targets.is_floating_point()) return std::nullopt;
    require_classes(name(), output, targets);
    return count_correct(output, targets);
  }

  bool counts_correct() const override { return true; }

 private:
  /// Checked because torch would broadcast.
  void require_equal_shape(const at::Tensor& output, const at::Tensor& targets) const {
    if (output.sizes() == targets.sizes()) return;
    refuse(fmt::format("{} of an output [{}] gets real targets [{}]; the shapes must be equal", name(),
                       fmt::join(output.sizes(), ", "), fmt::join(targets.sizes(), ", ")));
  }
};

}  // namespace

std::shared_ptr<const loss> mse() { return std::make_shared<squared_error>(); }

}  // namespace hydra
