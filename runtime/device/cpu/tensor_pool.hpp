#pragma once
// The pool from which a thread allocates the tensors that it creates on a device.

#include <c10/core/DeviceType.h>

#include <cstddef>
#include <memory>

namespace hydra {

/// Device memory for tensors. Thread-safe; must outlive its tensors.
class tensor_pool {
 public:
  virtual ~tensor_pool() = default;
  /// Whose memory it is. A thread that launches work for an accelerator makes tensors of the CPU, too: LibTorch makes
  /// one for each scalar.
  virtual c10::DeviceType device_type() const noexcept = 0;
  /// Never null, aligned to 64 bytes. Throws c10::OutOfMemoryError. A tensor of the CPU has 64 more bytes before its
  /// data, the allocator's own. Plans, which fill a budget to the byte, do not count these: of a pool with a budget
  /// such a tensor takes charged_bytes(n - 64).
  virtual void* allocate(std::size_t n) = 0;
  /// On any thread.
  virtual void release(void* p) noexcept = 0;
  /// As allocate, but returns null instead of throwing; a pool that can wait for bytes does not wait here.
  virtual void* try_allocate(std::size_t n) noexcept;
};

/// The pool of the calling thread if it has memory of such a device; else null.
const std::shared_ptr<tensor_pool>& current_pool(c10::DeviceType type) noexcept;

/// While it exists, the thread that created it allocates from the pool. Nests.
class allocate_from {
 public:
  explicit allocate_from(std::shared_ptr<tensor_pool> pool) noexcept;
  ~allocate_from();
  allocate_from(const allocate_from&) = delete;
  allocate_from& operator=(const allocate_from&) = delete;

 private:
  std::shared_ptr<tensor_pool> previous_;
};

}  // namespace hydra
