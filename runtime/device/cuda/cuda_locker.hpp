#pragma once
// Host pages registered with the driver.

#include "runtime/device/page_locker.hpp"

namespace hydra {

/// For all GPUs of the process, by way of one.
class cuda_locker final : public page_locker {
 public:
  explicit cuda_locker(int gpu) : gpu_(gpu) {}
  void lock(std::span<std::byte> pages) override;
  void unlock(std::span<std::byte> pages) noexcept override;

 private:
  int gpu_;
};

}  // namespace hydra
