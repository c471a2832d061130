#pragma once
// bf16 in kernels, with the same bits as on the host (models/optimizer/bf16.hpp).

#include <cstdint>

#include <cuda_bf16.h>

namespace hydra {

__device__ inline float widened(std::uint16_t bits) { return __bfloat162float(__ushort_as_bfloat16(bits)); }

/// Rounds to nearest, ties to even. NaN becomes the host's NaN; the intrinsic's has other bits.
__device__ inline std::uint16_t rounded(float x) {
  return isnan(x) ? 0x7fc0 : __bfloat16_as_ushort(__float2bfloat16_rn(x));
}

}  // namespace hydra
