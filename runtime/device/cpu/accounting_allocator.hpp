#pragma once
// Charges CPU tensor memory to the virtual device for which a thread works.

#include "runtime/base/bytes.hpp"
#include "runtime/device/cpu/tensor_pool.hpp"
#include "runtime/device/device.hpp"

#include <cstdint>

namespace hydra {

/// Per process, at the same time.
inline constexpr std::uint32_t most_memory_accounts = 1023;

/// One payer of tensor memory: a virtual device, or a pilot that measures. Stored in a fixed table; index 0 is the host
/// (not counted). Creation and destruction are rare (devices, pilots); charging is lock-free.
class memory_account {
 public:
  /// Throws fault_error{internal} when the table (most_memory_accounts) is full.
  explicit memory_account(byte_count limit);
  ~memory_account();  ///< the slot is reused only when everything charged to it has been freed
  memory_account(const memory_account&) = delete;
  memory_account& operator=(const memory_account&) = delete;

  byte_count used() const noexcept;
  byte_count peak() const noexcept;
  byte_count limit() const noexcept;
  /// Resets the peak to the current value.
  void reset_peak() noexcept;
  std::uint32_t index() const noexcept { return index_; }

 private:
  std::uint32_t index_;
};

/// While it exists, CPU tensors that this thread creates are charged to the account (rounded up to 512 bytes each);
/// beyond its limit c10::OutOfMemoryError is thrown and nothing is charged. Nests. Replaces any pool that the thread
/// was given before.
class charge_to {
 public:
  explicit charge_to(const memory_account& account) noexcept;
  ~charge_to();
  charge_to(const charge_to&) = delete;
  charge_to& operator=(const charge_to&) = delete;

 private:
  std::uint32_t previous_;
  allocate_from heap_{nullptr};
};

/// What an allocation of `n` bytes is charged: rounded up to 512, 0 stays 0.
constexpr byte_count charged_bytes(byte_count n) noexcept { return round_up(n, 512); }

/// Installs the allocator (c10::SetAllocator, CPU, priority 255) once per process. Tensors made before are not counted.
void install_accounting_allocator();

}  // namespace hydra
