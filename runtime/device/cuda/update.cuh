#pragma once
// A step of an update rule on a GPU.

#include "runtime/device/kernels/update_math.hpp"

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace hydra {

/// Device addresses of one contiguous range of parameters; null: a moment that the rule does not have, or a copy that
/// is not wanted.
struct update_pointers {
  float* parameters;
  const float* gradients;
  float* first_moment;
  float* second_moment;
  std::uint16_t* copy;   ///< bits of bf16
};

/// Launches one step of `n` elements on `stream`: gives the same bits as the CPU.
cudaError_t launch_update(const update_constants& constants, const update_pointers& at, std::size_t n,
                          cudaStream_t stream);

}  // namespace hydra
