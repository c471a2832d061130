// The CUDA kernel of hydra::small_constant, for LibTorch's dispatcher.

#include "runtime/device/cuda/cuda_check.hpp"
#include "runtime/device/cuda/small_constant.cuh"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like_ops.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

namespace hydra {

namespace {

at::Tensor constant_on_gpu(const at::Tensor& values, const at::Tensor& like) {
  const c10::cuda::CUDAGuard here(like.device());
  at::Tensor result = at::_ops::empty_like::call(values, {}, {}, like.device(), {}, at::MemoryFormat::Contiguous);
  cuda_check(
      launch_small_constant(values.const_data_ptr<float>(), result.mutable_data_ptr<float>(),
                            static_cast<std::size_t>(values.numel()), c10::cuda::getCurrentCUDAStream().stream()),
      "the constants of a layer cannot be launched");
  return result;
}

}  // namespace

TORCH_LIBRARY_IMPL(hydra, CUDA, library) { library.impl("small_constant", TORCH_FN(constant_on_gpu)); }

}  // namespace hydra
