#pragma once
// A step of an update rule on a GPU.

#include "runtime/device/kernels/update_math.hpp"

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace hydra {

/// Device addresses of one run of parameters; moments that the rule has not, and a copy that is not wanted, are null.
struct update_pointers {
  float* parameters;
  const float* gradients;
  float* first_moment;
  float* second_moment;
  std::uint16_t* copy;   ///< bits of bf16
};

/// Launches on `stream` one step of `n` elements: the bits that the CPU gives.
cudaError_t launch_update(const update_constants& constants, const update_pointers& at, std::size_t n, cudaStream_t stream);

}  // namespace hydra
