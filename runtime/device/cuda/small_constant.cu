#include "runtime/device/cuda/small_constant.cuh"

namespace hydra {

namespace {

constexpr std::size_t most = 512;

/// Half of the 4 KiB that the arguments of a kernel may have everywhere.
struct numbers {
  float values[most];
};

__global__ void write_numbers(numbers from, float* to, unsigned n) {
  const unsigned i = threadIdx.x;
  if (i < n) {
    to[i] = from.values[i];
  }
}

}  // namespace

cudaError_t launch_small_constant(const float* values, float* to, std::size_t n, cudaStream_t stream) {
  for (std::size_t first = 0; first < n; first += most) {
    numbers from{};
    const auto count = static_cast<unsigned>(n - first < most ? n - first : most);
    for (unsigned i = 0; i < count; ++i) {
      from.values[i] = values[first + i];
    }
    write_numbers<<<1, most, 0, stream>>>(from, to + first, count);
    if (const auto e = cudaGetLastError(); e != cudaSuccess) {
      return e;
    }
  }
  return cudaSuccess;
}

}  // namespace hydra
