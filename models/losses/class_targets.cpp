#include "models/losses/class_targets.hpp"

#include "runtime/base/refuse.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/argmax_ops.h>
#include <ATen/ops/eq_ops.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hydra {

void require_classes(std::string_view who, const at::Tensor& output, const at::Tensor& targets) {
  const bool suits = targets.scalar_type() == at::kLong && output.dim() > 0 &&
                     output.sizes().slice(0, static_cast<std::size_t>(output.dim() - 1)) == targets.sizes();
  if (!suits)
    refuse(fmt::format("{} of an output [{}] gets {} targets [{}]; it wants a class (i64) for each row", who,
                       fmt::join(output.sizes(), ", "), c10::toString(targets.scalar_type()),
                       fmt::join(targets.sizes(), ", ")));
}

at::Tensor count_correct(const at::Tensor& output, const at::Tensor& targets) {
  const at::Tensor best = at::_ops::argmax::call(output, -1, false);
  return at::_ops::eq_Tensor::call(best, targets).sum().to(at::kFloat);  // no class equals masked_target
}

}  // namespace hydra
