#include "runtime/device/cuda/cuda_locker.hpp"

#include "runtime/base/bytes.hpp"
#include "runtime/device/cuda/cuda_check.hpp"

#include <c10/cuda/CUDAGuard.h>
#include <fmt/format.h>

namespace hydra {

void cuda_locker::lock(std::span<std::byte> pages) {
  const c10::cuda::CUDAGuard here(
      static_cast<c10::DeviceIndex>(gpu_));  // else the thread's GPU may get a context for it
  const auto error = cudaHostRegister(pages.data(), pages.size(), cudaHostRegisterPortable);
  if (error == cudaSuccess || error == cudaErrorHostMemoryAlreadyRegistered) {
    cuda_ignore(error);
    return;
  }
  const auto text = fmt::format("{} for the GPU's copies", to_string(byte_count{pages.size()}));
  cuda_check(error, text.c_str(), "lower memory in [host] of the workload");  // the caller says what else helps
}

void cuda_locker::unlock(std::span<std::byte> pages) noexcept {
  cuda_ignore(cudaHostUnregister(pages.data()));
}

}  // namespace hydra
