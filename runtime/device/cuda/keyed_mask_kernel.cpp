// The CUDA kernel of hydra::keyed_mask, for LibTorch's dispatcher.

#include "runtime/device/cuda/cuda_check.hpp"
#include "runtime/device/cuda/keyed_mask.cuh"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like_ops.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

namespace hydra {

namespace {

at::Tensor mask_on_gpu(const at::Tensor& input, double p, std::int64_t key) {
  const c10::cuda::CUDAGuard here(input.device());
  const auto stream = c10::cuda::getCurrentCUDAStream().stream();
  const at::Tensor source = input.contiguous();
  at::Tensor result = at::_ops::empty_like::call(source, {}, {}, {}, {}, at::MemoryFormat::Contiguous);
  const auto rule = mask_rule(p, static_cast<std::uint64_t>(key));
  const auto n = static_cast<std::size_t>(source.numel());
  const auto error =
      source.scalar_type() == at::kFloat
          ? launch_keyed_mask(source.const_data_ptr<float>(), result.mutable_data_ptr<float>(), n, rule, stream)
          : launch_keyed_mask(static_cast<const std::uint16_t*>(source.const_data_ptr()),
                              static_cast<std::uint16_t*>(result.mutable_data_ptr()), n, rule, stream);
  cuda_check(error, "keyed dropout cannot be launched");
  return result;
}

}  // namespace

TORCH_LIBRARY_IMPL(hydra, CUDA, library) { library.impl("keyed_mask", TORCH_FN(mask_on_gpu)); }

}  // namespace hydra
