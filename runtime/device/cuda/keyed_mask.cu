#include "runtime/device/cuda/keyed_mask.cuh"

#include "runtime/device/cuda/bf16.cuh"

namespace hydra {

namespace {

constexpr unsigned threads = 256;
constexpr std::size_t each = 8;   ///< elements of a thread
constexpr std::size_t most_blocks = 65535;

__device__ float value_of(float x) { return x; }
__device__ float value_of(std::uint16_t bits) { return widened(bits); }
__device__ void store(float* to, float x) { *to = x; }
__device__ void store(std::uint16_t* to, float x) { *to = rounded(x); }

template <class Element>
__global__ void keyed_mask(const Element* from, Element* to, std::size_t n, keyed_mask_rule rule) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  std::uint64_t counter = random_counter(rule.key, i);
  const std::uint64_t step =
      stride * counter_step;  // instead of one of three multiplications of 64 bits for each element
  for (; i < n; i += stride, counter += step) {
    store(to + i, rule.drops_at(counter) ? 0.0F : __fmul_rn(value_of(from[i]), rule.scale));
  }
}

template <class Element>
cudaError_t launch(const Element* from, Element* to, std::size_t n, const keyed_mask_rule& rule, cudaStream_t stream) {
  if (n == 0) {
    return cudaSuccess;
  }
  const auto wanted = (n + threads * each - 1) / (threads * each);
  const auto blocks = static_cast<unsigned>(wanted < most_blocks ? wanted : most_blocks);
  keyed_mask<<<blocks, threads, 0, stream>>>(from, to, n, rule);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_keyed_mask(const float* from, float* to, std::size_t n, const keyed_mask_rule& rule,
                              cudaStream_t stream) {
  return launch(from, to, n, rule, stream);
}

cudaError_t launch_keyed_mask(const std::uint16_t* from, std::uint16_t* to, std::size_t n, const keyed_mask_rule& rule,
                              cudaStream_t stream) {
  return launch(from, to, n, rule, stream);
}

}  // namespace hydra
