#include "tests/support/gpu_double/tensors.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>

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

enum class way { by_meta, by_zeros, none };

way first_way(const c10::OperatorHandle& op) {
  const auto is_tensor = [](const c10::Argument& r) {
    return r.type()->kind() == c10::TypeKind::TensorType || r.type()->kind() == c10::TypeKind::ListType;
  };
  const bool by_value = op.hasTag(at::Tag::data_dependent_output) || op.hasTag(at::Tag::dynamic_output_shape);
  return by_value || !std::ranges::all_of(op.schema().returns(), is_tensor) ? way::none : way::by_meta;
}

bool attempt(const c10::OperatorHandle& op, way how, Stack& stack) {
  try {
    auto results = how == way::by_meta ? with_tensors(stack, at::kMeta, on_meta) : with_tensors(stack, at::kCPU, zeros_for);
    run_elsewhere(op, results);
    stack = std::move(results);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

void run_elsewhere(const c10::OperatorHandle& op, Stack& stack) {
  [[maybe_unused]] static thread_local const bool once = (at::set_num_threads(1), true);
  const at::NoGradGuard no_grad;
  const c10::impl::ExcludeDispatchKeyGuard no_graph(c10::autograd_dispatch_keyset_with_ADInplaceOrView);
  const c10::impl::ExcludeDispatchKeyGuard no_cast(c10::autocast_dispatch_keyset);
  op.operator_name().name == "aten::_fused_rms_norm_backward" ? rms_norm_backward(stack) : op.callBoxed(stack);
}

bool infer(const c10::OperatorHandle& op, Stack& stack) {
  static std::mutex mutex;
  static std::map<c10::OperatorName, way, decltype([](const auto& a, const auto& b) {
                    return std::tie(a.name, a.overload_name) < std::tie(b.name, b.overload_name);
                  })> ways;
  const auto known = [&](auto change) {
    const std::lock_guard lock{mutex};
    auto& w = ways.try_emplace(op.operator_name(), first_way(op)).first->second;
    change(w);
    return w;
  };
  for (auto w = known([](way&) {}); w != way::none;) {
    if (attempt(op, w, stack)) return true;
    w = known([next = w == way::by_meta ? way::by_zeros : way::none](way& now) { now = next; });
  }
  note("waits for values: " + op.operator_name().name);
  return false;
}

}  // namespace gpu_double
