#include "models/exported/module_loss.hpp"

#include "models/losses/class_targets.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hydra {

namespace {

class loss_inside final : public loss {
 public:
  explicit loss_inside(bool is_mean) : is_mean_{is_mean} {}

  at::Tensor sum(const at::Tensor& output, const at::Tensor& targets) const override {
    if (output.numel() != 1)
      refuse(fmt::format("the loss inside the model is [{}], and not one number", fmt::join(output.sizes(), ", ")));
    const at::Tensor one = output.reshape({});
    if (!is_mean_) return one;
    if (targets.scalar_type() != at::kLong) return one.mul(targets.numel());
    return one.mul(targets.ne(masked_target).sum());
  }
  bool masks() const override { return false; }  // the module sees its targets as inputs
  std::string name() const override { return is_mean_ ? "mean inside the model" : "sum inside the model"; }

 private:
  bool is_mean_;
};

}  // namespace

std::shared_ptr<const loss> module_loss(bool is_mean) { return std::make_shared<loss_inside>(is_mean); }

}  // namespace hydra
