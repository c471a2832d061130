#pragma once
// Where the tensors come from that a thread makes on a device.

#include <cstddef>
#include <memory>

namespace hydra {

/// Device memory for tensors. Thread-safe; lives as long as any of them.
class tensor_pool {
 public:
  virtual ~tensor_pool() = default;
  /// Never null. Throws c10::OutOfMemoryError.
  virtual void* allocate(std::size_t n) = 0;
  /// By whichever thread.
  virtual void release(void* p) noexcept = 0;
  /// As allocate, but null where that would throw; a pool that waits for bytes does not wait here.
  virtual void* try_allocate(std::size_t n) noexcept;
};

/// What the calling thread allocates from; null: nothing was said.
const std::shared_ptr<tensor_pool>& current_pool() noexcept;

/// While it lives, the thread that made it allocates from the pool. Nests.
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
