// The CUDA kernel of hydra::update_, for LibTorch's dispatcher.

#include "runtime/device/cuda/cuda_check.hpp"
#include "runtime/device/cuda/update.cuh"

#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <optional>

namespace hydra {

namespace {

using optional_tensor = std::optional<at::Tensor>;

template <class T>
T* data_of(const optional_tensor& t) {
  return t ? static_cast<T*>(t->mutable_data_ptr()) : nullptr;
}

void update_on_gpu(const at::Tensor& parameters, const at::Tensor& gradients, const optional_tensor& first,
                   const optional_tensor& second, const optional_tensor& copy, c10::ArrayRef<double> constants) {
  const c10::cuda::CUDAGuard here(parameters.device());
  const update_pointers at{.parameters = data_of<float>(parameters),
                           .gradients = gradients.const_data_ptr<float>(),
                           .first_moment = data_of<float>(first),
                           .second_moment = data_of<float>(second),
                           .copy = data_of<std::uint16_t>(copy)};
  const auto stream = c10::cuda::getCurrentCUDAStream().stream();
  cuda_check(launch_update(constants_from(constants.data()), at, static_cast<std::size_t>(parameters.numel()), stream),
             "an update of parameters cannot be launched");
}

}  // namespace

TORCH_LIBRARY_IMPL(hydra, CUDA, library) { library.impl("update_", TORCH_FN(update_on_gpu)); }

}  // namespace hydra
