#pragma once
// Waiting for operations of a device, for code outside actors.

#include "runtime/base/bytes.hpp"
#include "runtime/device/ticket.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

namespace hydra {

/// Receives the completions of one device; another thread, the only one that submits, waits.
class operation_wait {
 public:
  /// `limit`: a device that completes nothing for so long counts as lost.
  operation_wait(std::string device, duration limit);

  /// Registers an operation that was just submitted; it may have ended already.
  void begin(ticket t);
  void complete(const completion& c);
  /// Returns when that operation has ended, at once for ticket 0. Throws fault_error with the first fault of any
  /// operation so far, which is why later ones were skipped; {device_lost} beyond the limit.
  void for_end_of(ticket t);

  /// Submitted and not ended.
  std::size_t under_way() const;

 private:
  void note(ticket t);

  const std::string device_;
  const duration limit_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<ticket> open_;   ///< of which either the submission or the end has been recorded, not both
  std::uint64_t ends_ = 0;
  fault first_;
};

}  // namespace hydra
