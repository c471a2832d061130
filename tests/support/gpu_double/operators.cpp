// LibTorch's operators. Each kernel of the key CUDA is replaced by one that infers its results' shapes, allocates them as the GPU's
// kernel would, and launches the CPU's kernel on the current stream, over the same memory. What launches no kernel stays:
// allocations, views, copies from and to the host, reading a number. Not modelled: a GPU's rounding, cuBLAS, cuDNN, fused attention.

#include "tests/support/gpu_double/tensors.hpp"

#include <ATen/ops/copy_native.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace gpu_double;

/// From the first element to the last one.
touched range_of_elements(const at::Tensor& t, bool written) {
  std::int64_t last = 0;
  for (std::int64_t d = 0; d < t.dim(); ++d) last += (t.size(d) - 1) * t.stride(d);
  return range_of(t.const_data_ptr(), static_cast<std::size_t>((last + 1) * t.element_size()), written);
}

void add_ranges(std::vector<touched>& all, const c10::IValue& v, bool written) {
  for_each_tensor(v, [&](const at::Tensor& t) {
    if (t.is_cuda() && t.numel() > 0) all.push_back(range_of_elements(t, written));
  });
}

/// The same bytes; they may be freed before they are used, as on a GPU.
at::Tensor on_host(const at::Tensor& t) {
  if (!t.defined() || !t.is_cuda()) return t;
  auto* const p = t.numel() == 0 ? nullptr : bytes_at(const_cast<void*>(t.const_data_ptr()));
  return at::from_blob(p, t.sizes(), t.strides(), [](void*) {}, t.options().device(at::kCPU).requires_grad(false), at::kCPU);
}

/// The argument that a result is, if it is one.
std::optional<std::size_t> argument_of(const c10::FunctionSchema& schema, std::size_t result) {
  const auto* alias = schema.returns()[result].alias_info();
  for (std::size_t i = 0; alias && i < schema.arguments().size(); ++i) {
    const auto* given = schema.arguments()[i].alias_info();
    if (given && given->isWrite() && given->beforeSets() == alias->beforeSets()) return i;
  }
  return std::nullopt;
}

c10::Device device_of(const Stack& arguments) {
  std::optional<c10::Device> found;
  for (const auto& v : arguments) {
    for_each_tensor(v, [&](const at::Tensor& t) { found = t.is_cuda() && !found ? t.device() : found; });
    if (v.isDevice() && v.toDevice().is_cuda()) found = v.toDevice();
  }
  return found && found->has_index() ? *found : c10::Device(at::kCUDA, c10::cuda::current_device());
}

void fit_outputs(const c10::FunctionSchema& schema, const Stack& arguments, const Stack& shapes) {
  for (std::size_t r = 0; r < schema.returns().size(); ++r) {
    const auto i = argument_of(schema, r);
    if (!i || !schema.arguments()[*i].is_out() || !shapes[r].isTensor()) continue;
    const auto& out = arguments[*i].toTensor();
    if (out.sizes() != shapes[r].toTensor().sizes()) out.resize_(shapes[r].toTensor().sizes());
  }
}

/// Puts a result of the CPU's kernel to where the GPU's kernel would have written it.
void store(const c10::IValue& from, const c10::IValue& to) {
  std::vector<at::Tensor> results, places;
  for_each_tensor(from, [&](const at::Tensor& t) { results.push_back(t); });
  for_each_tensor(to, [&](const at::Tensor& t) { places.push_back(t); });
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].numel() > 0) at::native::copy_(places[i], results[i], false);
  }
}

/// What the caller gets, and the same memory for the CPU's kernel; none: written in place.
struct outcome {
  Stack results, places;
};

outcome allocate(const c10::FunctionSchema& schema, const Stack& arguments, const Stack& shapes, c10::Device where) {
  outcome o;
  for (std::size_t r = 0; r < schema.returns().size(); ++r) {
    if (const auto i = argument_of(schema, r)) {
      o.results.push_back(arguments[*i]);
      o.places.emplace_back();
      continue;
    }
    o.results.push_back(with_tensors(shapes[r], [&](const at::Tensor& t) {
      return t.defined() ? at::empty_strided(t.sizes(), t.strides(), t.options().device(where)) : t;
    }));
    o.places.push_back(with_tensors(o.results.back(), on_host));
  }
  return o;
}

std::vector<touched> ranges_of(const c10::FunctionSchema& schema, const Stack& arguments, const outcome& o) {
  std::vector<touched> all;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* alias = schema.arguments()[i].alias_info();
    add_ranges(all, arguments[i], alias && alias->isWrite());
  }
  for (std::size_t r = 0; r < o.results.size(); ++r) {
    if (!o.places[r].isNone()) add_ranges(all, o.results[r], true);
  }
  return all;
}

/// `arguments` become the results.
void run_later(const c10::OperatorHandle& op, Stack& arguments) {
  const auto where = device_of(arguments);
  const c10::cuda::CUDAGuard here(where);
  const auto shapes = infer(op, arguments);
  fit_outputs(op.schema(), arguments, shapes);
  auto made = allocate(op.schema(), arguments, shapes, where);
  auto run = [op, stack = with_tensors(arguments, at::kCPU, on_host), places = made.places]() mutable {
    run_elsewhere(op, stack);
    for (std::size_t r = 0; r < places.size(); ++r) {
      if (!places[r].isNone()) store(stack[r], places[r]);
    }
  };
  const auto stream = c10::cuda::getCurrentCUDAStream(where.index()).stream();
  launch(stream, {op.operator_name().name, ranges_of(op.schema(), arguments, made), std::move(run)});
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  arguments = std::move(made.results);
}

void on_double(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
  const auto first = stack->end() - static_cast<std::ptrdiff_t>(op.schema().arguments().size());
  Stack arguments(first, stack->end());
  stack->erase(first, stack->end());
  run_later(op, arguments);
  for (auto& r : arguments) stack->push_back(std::move(r));
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
    "aten::_copy_from", "aten::_copy_from_and_resize", "aten::_efficientzerotensor", "aten::_local_scalar_dense",
    "aten::_has_compatible_shallow_copy_type", "aten::_pin_memory", "aten::copy_", "aten::empty", "aten::empty_strided",
    "aten::is_pinned", "aten::is_set_to", "aten::record_stream", "aten::resize_", "aten::set_", "aten::set_data"};

bool is_replaced(const c10::OperatorHandle& op) {
  const auto& name = op.operator_name().name;
  if (!name.starts_with("aten::") || launches_nothing.contains(name)) return false;
  for (const auto& r : op.schema().returns()) {
    if (r.alias_info() && !r.alias_info()->isWrite()) return false;  // a view
  }
  return name == "aten::convolution" || name == "aten::convolution_backward" ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CUDA);
}

struct no_warnings : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

bool replace_all() {
  no_warnings none;  // that kernels are replaced
  const c10::WarningUtils::WarningHandlerGuard quiet(&none);
  static torch::Library aten(torch::Library::IMPL, "aten", c10::DispatchKey::CUDA, __FILE__, __LINE__);
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op || !is_replaced(*op)) continue;
    const auto overload = name.overload_name.empty() ? "" : "." + name.overload_name;
    aten.impl((name.name.substr(6) + overload).c_str(), torch::CppFunction::makeFromBoxedFunction<&on_double>());
  }
  aten.impl("copy_", TORCH_FN(copy));
  at::globalContext().setSDPUseFlash(false);  // the CPU has no such operators
  at::globalContext().setSDPUseMemEfficient(false);
  at::globalContext().setUserEnabledCuDNN(false);
  return true;
}

[[maybe_unused]] const bool replaced = replace_all();

}  // namespace
