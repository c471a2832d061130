#include "runtime/device/cuda/cuda_locker.hpp"

#include "runtime/base/bytes.hpp"
#include "runtime/device/cuda/cuda_check.hpp"

#include <c10/cuda/CUDAGuard.h>

namespace hydra {

void cuda_locker::lock(std::span<std::byte> pages) {
  const c10::cuda::CUDAGuard here(static_cast<c10::DeviceIndex>(gpu_));  // else the thread's GPU may get a context for it
  const auto error = cudaHostRegister(pages.data(), pages.size(), cudaHostRegisterPortable);
  if (error == cudaSuccess || error == cudaErrorHostMemoryAlreadyRegistered) {
    cudaGetLastError();
    return;
  }
  const auto text = fmt::format("{} of host memory cannot be locked for the GPU's copies (host.memory in the workload, and the "
                                "system's limit of locked memory, ulimit -l, decide)", to_string(byte_count{pages.size()}));
  cuda_check(error, text.c_str());
}

void cuda_locker::unlock(std::span<std::byte> pages) noexcept {
  cudaHostUnregister(pages.data());
  cudaGetLastError();
}

}  // namespace hydra
