#include "runtime/device/cuda/update.cuh"

#include "runtime/device/cuda/bf16.cuh"

// Compiled without contraction, with exact division and square root (CMakeLists.txt).

namespace hydra {

namespace {

constexpr unsigned threads = 256;
constexpr std::size_t most_blocks = 65535;

__device__ void step(const update_constants& c, const update_pointers& at, std::size_t i) {
  float p = at.parameters[i];
  const float g = at.gradients[i];
  switch (c.rule) {
    case update_loop::adamw:
      adamw_element(c.adamw, p, g, at.first_moment[i], at.second_moment[i]);
      break;
    case update_loop::plain_sgd:
      plain_sgd_element(c.sgd, p, g);
      break;
    case update_loop::momentum_sgd:
      momentum_sgd_element(c.sgd, c.first_step, c.nesterov, p, g, at.first_moment[i]);
      break;
    case update_loop::lion:
      lion_element(c.lion, p, g, at.first_moment[i]);
      break;
    case update_loop::blockwise_adamw:  // stepped on the host
    case update_loop::muon:
    case update_loop::adafactor:
      break;
  }
  at.parameters[i] = p;
  if (at.copy) {
    at.copy[i] = rounded(p);
  }
}

__global__ void update(update_constants constants, update_pointers at, std::size_t n) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    step(constants, at, i);
  }
}

}  // namespace

cudaError_t launch_update(const update_constants& constants, const update_pointers& at, std::size_t n,
                          cudaStream_t stream) {
  if (n == 0) {
    return cudaSuccess;
  }
  const auto wanted = (n + threads - 1) / threads;
  const auto blocks = static_cast<unsigned>(wanted < most_blocks ? wanted : most_blocks);
  update<<<blocks, threads, 0, stream>>>(constants, at, n);
  return cudaGetLastError();
}

}  // namespace hydra
