#include "models/keyed_mask.hpp"

#include "models/optimizer/vector_clones.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/device/kernels/keyed_random.hpp"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty_like_ops.h>
#include <fmt/format.h>
#include <torch/library.h>

namespace hydra {
namespace {

HYDRA_VECTOR_CLONES void mask_floats(const keyed_mask_rule& m, std::size_t n, const float* __restrict from,
                                     float* __restrict to) {
  for (std::size_t i = 0; i < n; ++i) {
    const float scaled = from[i] * m.scale;
    to[i] = m.drops(i) ? 0.0f : scaled;
  }
}

HYDRA_VECTOR_CLONES void mask_halves(const keyed_mask_rule& m, std::size_t n, const at::BFloat16* __restrict from,
                                     at::BFloat16* __restrict to) {
  for (std::size_t i = 0; i < n; ++i) {
    const float scaled = static_cast<float>(from[i]) * m.scale;
    to[i] = static_cast<at::BFloat16>(m.drops(i) ? 0.0f : scaled);
  }
}

at::Tensor contiguous_like(const at::Tensor& input) {
  return at::_ops::empty_like::call(input, {}, {}, {}, {}, at::MemoryFormat::Contiguous);
}

at::Tensor mask_on_cpu(const at::Tensor& input, double p, std::int64_t key) {
  const at::Tensor source = input.contiguous();
  at::Tensor result = contiguous_like(source);
  const keyed_mask_rule rule = mask_rule(p, static_cast<std::uint64_t>(key));
  const auto n = static_cast<std::size_t>(source.numel());
  if (source.scalar_type() == at::kFloat)
    mask_floats(rule, n, source.const_data_ptr<float>(), result.mutable_data_ptr<float>());
  else
    mask_halves(rule, n, source.const_data_ptr<at::BFloat16>(), result.mutable_data_ptr<at::BFloat16>());
  return result;
}

at::Tensor mask_shape(const at::Tensor& input, double, std::int64_t) { return contiguous_like(input); }

void require_type(const at::Tensor& input) {
  if (input.scalar_type() == at::kFloat || input.scalar_type() == at::kBFloat16) return;
  throw fault_error{fault_code::internal, fmt::format("keyed dropout is written for fp32 and bf16, not for {}",
                                                      c10::toString(input.scalar_type()))};
}

}  // namespace

// In the file of the function that the layers call, so that it is linked into every program that uses it.
TORCH_LIBRARY(hydra, library) { library.def("keyed_mask(Tensor input, float p, int key) -> Tensor"); }
TORCH_LIBRARY_IMPL(hydra, CPU, library) { library.impl("keyed_mask", TORCH_FN(mask_on_cpu)); }
TORCH_LIBRARY_IMPL(hydra, Meta, library) { library.impl("keyed_mask", TORCH_FN(mask_shape)); }

at::Tensor keyed_mask(const at::Tensor& input, double p, std::uint64_t key) {
  static const auto operation = c10::Dispatcher::singleton()
                                    .findSchemaOrThrow("hydra::keyed_mask", "")
                                    .typed<at::Tensor(const at::Tensor&, double, std::int64_t)>();
  require_type(input);
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  try {
    return operation.call(input, p, static_cast<std::int64_t>(key));
  } catch (const c10::NotImplementedError&) {
    throw fault_error{fault_code::internal, fmt::format("keyed dropout has no kernel for device {}: the plug-in of the "
                                                        "device must register a kernel for hydra::keyed_mask",
                                                        input.device().str())};
  }
}

}  // namespace hydra
