#include "models/loss.hpp"

#include <ATen/core/Reduction.h>
#include <ATen/ops/argmax_ops.h>
#include <ATen/ops/cross_entropy_loss_ops.h>
#include <ATen/ops/eq_ops.h>

namespace hydra {
namespace {

constexpr std::int64_t masked = -100;

class cross_entropy_loss final : public loss {
 public:
  at::Tensor sum(const at::Tensor& output, const at::Tensor& targets) const override {
    return at::_ops::cross_entropy_loss::call(output.reshape({-1, output.size(-1)}), targets.reshape({-1}), {},
                                              at::Reduction::Sum, masked, 0.0);
  }

  /// A masked target is negative and no class, so it is never predicted.
  std::optional<at::Tensor> correct(const at::Tensor& output, const at::Tensor& targets) const override {
    const auto predicted = at::_ops::argmax::call(output, -1, false);
    return at::_ops::eq_Tensor::call(predicted, targets).sum(at::kFloat);
  }

  bool counts_correct() const override { return true; }

  std::string name() const override { return "cross-entropy"; }
};

}  // namespace

std::shared_ptr<const loss> cross_entropy() { return std::make_shared<cross_entropy_loss>(); }

}  // namespace hydra
