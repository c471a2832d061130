#pragma once
// Host pages registered with the driver.

#include "runtime/device/page_locker.hpp"

namespace hydra {

/// One for all GPUs of the process.
class cuda_locker final : public page_locker {
 public:
  void lock(std::span<std::byte> pages) override;
  void unlock(std::span<std::byte> pages) noexcept override;
};

}  // namespace hydra
