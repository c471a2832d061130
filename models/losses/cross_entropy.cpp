#include "models/loss.hpp"
#include "models/losses/class_targets.hpp"
#include "models/losses/cross_entropy_of_pieces.hpp"

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cross_entropy_loss_ops.h>

namespace hydra {
namespace {

class cross_entropy_loss final : public loss {
 public:
  at::Tensor sum(const at::Tensor& output, const at::Tensor& targets) const override {
    require_classes(name(), output, targets);
    return at::_ops::cross_entropy_loss::call(output.reshape({-1, output.size(-1)}), targets.reshape({-1}), {},
                                              at::Reduction::Sum, masked_target, 0.0);
  }

  std::string name() const override { return "cross-entropy"; }

  std::optional<at::Tensor> correct(const at::Tensor& output, const at::Tensor& targets) const override {
    require_classes(name(), output, targets);
    return count_correct(output, targets);
  }

  bool counts_correct() const override { return true; }

  std::shared_ptr<const loss> of_pieces() const override { return cross_entropy_of_pieces(); }
};

}  // namespace

std::shared_ptr<const loss> cross_entropy() { return std::make_shared<cross_entropy_loss>(); }

}  // namespace hydra
