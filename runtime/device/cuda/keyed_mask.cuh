#pragma once
// Keyed dropout on a GPU.

#include "runtime/device/kernels/keyed_random.hpp"

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace hydra {

/// Launches the masking of `n` elements on `stream`: gives the same bits as the CPU.
cudaError_t launch_keyed_mask(const float* from, float* to, std::size_t n, const keyed_mask_rule& rule,
                              cudaStream_t stream);
/// The same for bf16, given as its bits.
cudaError_t launch_keyed_mask(const std::uint16_t* from, std::uint16_t* to, std::size_t n, const keyed_mask_rule& rule,
                              cudaStream_t stream);

}  // namespace hydra
