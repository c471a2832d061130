#pragma once
// Byte budgets: a reservation fails before an allocation does.

#include "runtime/base/bytes.hpp"

#include <memory>
#include <optional>
#include <string>

namespace hydra {

class reservation;

/// A limit and the bytes claimed of it. Thread-safe (atomic counters). Reservations may outlive the budget object.
class byte_budget {
 public:
  byte_budget(std::string name, byte_count limit);

  /// Claims `n` bytes, or returns nothing if that would exceed the limit.
  std::optional<reservation> try_reserve(byte_count n);
  /// The same, but throws fault_error{out_of_memory} that names the budget, the bytes requested and the bytes left.
  reservation reserve(byte_count n, const std::string& what);

  byte_count limit() const noexcept;
  byte_count used() const noexcept;
  byte_count peak() const noexcept;
  byte_count left() const;

 private:
  friend class reservation;
  struct account;
  std::shared_ptr<account> account_;
};

/// Move-only claim on a byte_budget; returns the bytes when destroyed.
class reservation {
 public:
  reservation() = default;
  reservation(reservation&&) noexcept;
  reservation& operator=(reservation&&) noexcept;
  reservation(const reservation&) = delete;
  reservation& operator=(const reservation&) = delete;
  ~reservation();

  byte_count bytes() const noexcept { return bytes_; }
  /// Returns all bytes now.
  void release() noexcept;
  /// Splits off `n` bytes into a reservation of their own. Throws fault_error{internal} if n > bytes().
  reservation split(byte_count n);

 private:
  friend class byte_budget;
  reservation(std::shared_ptr<byte_budget::account> account, byte_count n) noexcept;
  std::shared_ptr<byte_budget::account> account_;
  byte_count bytes_;
};

}  // namespace hydra
