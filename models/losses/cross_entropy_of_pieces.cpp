#include "models/losses/cross_entropy_of_pieces.hpp"

#include "models/losses/class_targets.hpp"
#include "models/pieces/class_statistics.hpp"
#include "models/pieces/token_columns.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/where_ops.h>

namespace hydra {
namespace {

class loss_of_statistics final : public loss {
 public:
  at::Tensor sum(const at::Tensor& output, const at::Tensor& targets) const override {
    require_classes(name(), output, targets);
    const at::Tensor each = loss_of(from_columns(output));
    return at::_ops::where_ScalarOther::call(targets.ne(masked_target), each, 0).sum();
  }

  std::string name() const override { return "cross-entropy"; }

  std::optional<at::Tensor> correct(const at::Tensor& output, const at::Tensor& targets) const override {
    require_classes(name(), output, targets);
    return best_class(from_columns(output)).eq(targets).sum().to(at::kFloat);  // no class equals masked_target
  }

  bool counts_correct() const override { return true; }
};

}  // namespace

std::shared_ptr<const loss> cross_entropy_of_pieces() { return std::make_shared<loss_of_statistics>(); }

}  // namespace hydra
