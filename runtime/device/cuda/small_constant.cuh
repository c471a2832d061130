#pragma once
// A few numbers of the host on a GPU, as arguments of a kernel: no copy, for which the host's memory would have to be
// locked.

#include <cstddef>

#include <cuda_runtime_api.h>

namespace hydra {

/// Launches the writing of `n` numbers on `stream`; `values` may change when it returns. A launch takes 512 of them.
cudaError_t launch_small_constant(const float* values, float* to, std::size_t n, cudaStream_t stream);

}  // namespace hydra
