#include "tests/support/gpu_double/tensors.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <mutex>
#include <set>
#include <string>

namespace gpu_double {

namespace {

at::TensorOptions options_on(const at::Tensor& t, c10::DeviceType where) {
  return t.options().device(where).requires_grad(false);
}

/// Numbers stay: what they are may decide on types.
at::Tensor on_meta(const at::Tensor& t) {
  if (!t.defined() || (!t.is_cuda() && t.dim() == 0)) return t;
  return at::empty_strided(t.sizes(), t.strides(), options_on(t, at::kMeta));
}

at::Tensor zeros_for(const at::Tensor& t) {
  if (!t.defined() || !t.is_cuda()) return t;
  return at::empty_strided(t.sizes(), t.strides(), options_on(t, at::kCPU)).zero_();
}

/// The CPU has no such operator. grad, x, normalized shape, reciprocal root, weight -> gradients of x and weight.
void rms_norm_backward(Stack& s) {
  const auto grad = s[0].toTensor().to(at::kFloat), x = s[1].toTensor().to(at::kFloat), rstd = s[3].toTensor().to(at::kFloat);
  const auto weight = s[4].isTensor() ? s[4].toTensor() : at::Tensor{};
  const auto normalized = static_cast<std::int64_t>(s[2].toIntVector().size());
  std::vector<std::int64_t> inner, outer;
  for (std::int64_t d = 0; d < x.dim(); ++d) (d < x.dim() - normalized ? outer : inner).push_back(d);
  const auto scaled = weight.defined() ? grad * weight.to(at::kFloat) : grad;
  const auto dx = (rstd * (scaled - x * rstd * rstd * (scaled * x).mean(inner, true))).to(s[1].toTensor().scalar_type());
  s = {dx, weight.defined() ? (grad * x * rstd).sum(outer).to(weight.scalar_type()) : at::Tensor{}};
}

bool attempt(const c10::OperatorHandle& op, Stack& stack) {
  try {
    run_elsewhere(op, stack);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// Operators that Meta does not know.
struct unknown_operators {
  std::mutex mutex{};
  std::set<std::string> names{};
};

}  // namespace

void run_elsewhere(const c10::OperatorHandle& op, Stack& stack) {
  [[maybe_unused]] static thread_local const bool once = (at::set_num_threads(1), true);
  const at::NoGradGuard no_grad;
  const c10::impl::ExcludeDispatchKeyGuard no_graph(c10::autograd_dispatch_keyset_with_ADInplaceOrView);
  const c10::impl::ExcludeDispatchKeyGuard no_cast(c10::autocast_dispatch_keyset);
  op.operator_name().name == "aten::_fused_rms_norm_backward" ? rms_norm_backward(stack) : op.callBoxed(stack);
}

Stack infer(const c10::OperatorHandle& op, const Stack& arguments) {
  static unknown_operators unknown;
  const auto name = op.operator_name().name + "." + op.operator_name().overload_name;
  const auto known = [&] {
    const std::lock_guard hold{unknown.mutex};
    return !unknown.names.contains(name);
  };
  auto results = with_tensors(arguments, at::kMeta, on_meta);
  if (known() && attempt(op, results)) return results;
  {
    const std::lock_guard hold{unknown.mutex};
    unknown.names.insert(name);
  }
  results = with_tensors(arguments, at::kCPU, zeros_for);
  run_elsewhere(op, results);
  return results;
}

}  // namespace gpu_double
