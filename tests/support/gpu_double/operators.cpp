// LibTorch's operators. Each kernel of the key CUDA is replaced by one that infers its results' shapes, allocates them
// as the GPU's kernel would, and launches the CPU's kernel on the current stream, over the same memory. What launches
// no kernel stays: allocations, views, copies from and to the host, reading a number. Not modelled: a GPU's rounding,
// cuBLAS, cuDNN, fused attention and norms, shapes that depend on values.

#include "tests/support/gpu_double/launch.hpp"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_fused_rms_norm_compositeimplicitautograd_dispatch.h>
#include <ATen/ops/copy_native.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace gpu_double;
using torch::jit::Stack;

/// An argument or a result, with each of its tensors replaced by another one.
template <class F>
c10::IValue with_tensors(const c10::IValue& v, const F& f) {
  if (v.isTensor()) return f(v.toTensor());
  if (v.isTensorList()) {
    c10::List<at::Tensor> all;
    for (const at::Tensor& t : v.toTensorVector()) all.push_back(f(t));
    return all;
  }
  if (v.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> all;
    for (const auto& t : v.toOptionalTensorVector()) all.push_back(t ? std::optional(f(*t)) : std::nullopt);
    return all;
  }
  return v;
}

/// All arguments of an operator, for one on another device.
template <class F>
Stack with_tensors(const Stack& all, at::Device where, const F& f) {
  Stack made;
  for (const auto& v : all) {
    made.push_back(v.isDevice() ? c10::IValue(where) : v.isGenerator() ? c10::IValue() : with_tensors(v, f));
  }
  return made;
}

/// Those that are defined.
std::vector<at::Tensor> tensors_in(const c10::IValue& v) {
  std::vector<at::Tensor> all;
  with_tensors(v, [&](const at::Tensor& t) {
    if (t.defined()) all.push_back(t);
    return t;
  });
  return all;
}

/// The operator's kernel for tensors that are not on the GPU; replaces its arguments by its results.
void run_elsewhere(const c10::OperatorHandle& op, Stack& stack) {
  [[maybe_unused]] static thread_local const bool once = (at::set_num_threads(1), true);
  const at::NoGradGuard no_grad;
  const c10::impl::ExcludeDispatchKeyGuard no_graph(c10::autograd_dispatch_keyset_with_ADInplaceOrView);
  const c10::impl::ExcludeDispatchKeyGuard no_cast(c10::autocast_dispatch_keyset);
  op.callBoxed(stack);
}

at::Tensor empty_like(const at::Tensor& t, c10::DeviceType where) {
  return at::empty_strided(t.sizes(), t.strides(), t.options().device(where).requires_grad(false));
}

at::Tensor zeros_for(const at::Tensor& t) { return !t.defined() || !t.is_cuda() ? t : empty_like(t, at::kCPU).zero_(); }
at::Tensor on_current_gpu(const at::Tensor& t) { return t.defined() ? empty_like(t, at::kCUDA) : t; }

/// Results of the right shapes, computed of zeros.
Stack infer(const c10::OperatorHandle& op, const Stack& arguments) {
  auto results = with_tensors(arguments, at::kCPU, zeros_for);
  run_elsewhere(op, results);
  return results;
}

/// Of each tensor on a GPU, from its first element to its last one.
void add_ranges(std::vector<touched>& all, const c10::IValue& v, bool written) {
  for (const auto& t : tensors_in(v)) {
    if (!t.is_cuda() || t.numel() == 0) continue;
    const auto bytes = at::detail::computeStorageNbytes(t.sizes(), t.strides(), t.element_size());
    all.push_back(range_of(t.const_data_ptr(), bytes, written));
  }
}

/// The same bytes; they may be freed before they are used, as on a GPU.
at::Tensor on_host(const at::Tensor& t) {
  if (!t.defined() || !t.is_cuda()) return t;
  auto* const p = t.numel() == 0 ? nullptr : bytes_at(const_cast<void*>(t.const_data_ptr()));
  return at::from_blob(
      p, t.sizes(), t.strides(), [](void*) {}, t.options().device(at::kCPU).requires_grad(false), at::kCPU);
}

bool is_written(const c10::Argument& a) { return a.alias_info() && a.alias_info()->isWrite(); }

/// The argument that a result is, if it is one.
std::optional<std::size_t> argument_of(const c10::FunctionSchema& schema, const c10::Argument& result) {
  for (std::size_t i = 0; result.alias_info() && i < schema.arguments().size(); ++i) {
    const auto& given = schema.arguments()[i];
    if (is_written(given) && given.alias_info()->beforeSets() == result.alias_info()->beforeSets()) return i;
  }
  return std::nullopt;
}

/// None: the current one.
std::optional<c10::Device> device_of(const Stack& arguments) {
  for (const auto& v : arguments) {
    if (v.isDevice() && v.toDevice().is_cuda()) return v.toDevice();
    for (const auto& t : tensors_in(v)) {
      if (t.is_cuda()) return t.device();
    }
  }
  return std::nullopt;
}

/// Puts a result of the CPU's kernel to where the GPU's kernel would have written it.
void store(const c10::IValue& from, const c10::IValue& to) {
  auto results = tensors_in(from), places = tensors_in(to);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].numel() > 0) at::native::copy_(places[i], results[i], false);
  }
}

/// `places`: of results that are not arguments, the same memory for the CPU.
struct outcome {
  Stack results{}, places{};
  std::vector<touched> ranges{};
};

outcome allocate(const c10::FunctionSchema& schema, const Stack& arguments, const Stack& shapes) {
  outcome o;
  for (const auto& result : schema.returns()) {
    const auto& shape = shapes[o.results.size()];
    const auto i = argument_of(schema, result);
    o.results.push_back(i ? arguments[*i] : with_tensors(shape, on_current_gpu));
    o.places.push_back(i ? c10::IValue{} : with_tensors(o.results.back(), on_host));
    if (!i) add_ranges(o.ranges, o.results.back(), true);
    if (i && schema.arguments()[*i].is_out() && shape.isTensor())
      arguments[*i].toTensor().resize_(shape.toTensor().sizes());
  }
  for (std::size_t i = 0; i < arguments.size(); ++i)
    add_ranges(o.ranges, arguments[i], is_written(schema.arguments()[i]));
  return o;
}

/// `arguments` become the results.
void run_later(const c10::OperatorHandle& op, Stack& arguments) {
  const c10::cuda::OptionalCUDAGuard here(device_of(arguments));
  auto made = allocate(op.schema(), arguments, infer(op, arguments));
  auto run = [op, stack = with_tensors(arguments, at::kCPU, on_host), places = std::move(made.places)]() mutable {
    run_elsewhere(op, stack);
    for (std::size_t r = 0; r < places.size(); ++r) store(stack[r], places[r]);
  };
  launch(c10::cuda::getCurrentCUDAStream().stream(), {op.operator_name().name, std::move(made.ranges), std::move(run)});
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  arguments = std::move(made.results);
}

void on_double(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
  auto arguments = torch::jit::pop(*stack, op.schema().arguments().size());
  run_later(op, arguments);
  stack->insert(stack->end(), arguments.begin(), arguments.end());
}

/// From or to the host: LibTorch's own code, down to cudaMemcpyAsync.
at::Tensor& copy(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
  if (!self.is_cuda() || !source.is_cuda()) return at::native::copy_(self, source, non_blocking);
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  Stack arguments{self, source, non_blocking};
  run_later(op, arguments);
  return self;
}

const std::set<std::string> launches_nothing{
    "aten::_efficientzerotensor", "aten::_local_scalar_dense", "aten::empty", "aten::empty_strided", "aten::is_set_to",
    "aten::record_stream", "aten::resize_", "aten::set_"};

bool is_replaced(const c10::OperatorHandle& op) {
  const auto& name = op.operator_name().name;
  if (!name.starts_with("aten::") || launches_nothing.contains(name)) return false;
  for (const auto& r : op.schema().returns()) {
    if (r.alias_info() && !r.alias_info()->isWrite()) return false;  // a view
  }
  return name == "aten::convolution" || name == "aten::convolution_backward" ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CUDA);
}

bool replace_all() {
  struct : c10::WarningHandler { void process(const c10::Warning&) override {} } none;  // that kernels are replaced
  const c10::WarningUtils::WarningHandlerGuard quiet(&none);
  static torch::Library aten(torch::Library::IMPL, "aten", c10::DispatchKey::CUDA, __FILE__, __LINE__);
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (op && is_replaced(*op))
      aten.impl(toString(name).c_str(), torch::CppFunction::makeFromBoxedFunction<&on_double>());
  }
  aten.impl("copy_", TORCH_FN(copy));
  // the CPU has no such operators
  static torch::Library autograd(torch::Library::IMPL, "aten", c10::DispatchKey::AutogradCUDA, __FILE__, __LINE__);
  autograd.impl("_fused_rms_norm", TORCH_FN(at::compositeimplicitautograd::_fused_rms_norm));
  at::globalContext().setSDPUseFlash(false);
  at::globalContext().setSDPUseMemEfficient(false);
  at::globalContext().setUserEnabledCuDNN(false);
  return true;
}

[[maybe_unused]] const bool replaced = replace_all();

}  // namespace
