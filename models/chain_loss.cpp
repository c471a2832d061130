#include "models/chain_loss.hpp"

#include "models/layer_name.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/rethrow.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

namespace hydra {
namespace {

std::string name_of_call(const chain& model, const char* function, const at::Tensor& output,
                         const at::Tensor& targets) {
  return fmt::format("loss \"{}\" of chain \"{}\", {} of an output {} and targets {}", model.objective().name(),
                     model.family(), function, to_string(output), to_string(targets));
}

}  // namespace

at::Tensor summed_loss(const chain& model, const at::Tensor& output, const at::Tensor& targets) try {
  const at::Tensor sum = model.objective().sum(in_fp32(output), targets);
  if (!sum.defined() || sum.numel() != 1)
    refuse(fmt::format("it returns {}; expected is one number, f32[], the sum over all targets", to_string(sum)));
  return sum;
} catch (...) {
  rethrow_from(name_of_call(model, "sum()", output, targets));
}

std::optional<at::Tensor> counted_correct(const chain& model, const at::Tensor& output, const at::Tensor& targets) try {
  return model.objective().correct(in_fp32(output), targets);
} catch (...) {
  rethrow_from(name_of_call(model, "correct()", output, targets));
}

}  // namespace hydra
