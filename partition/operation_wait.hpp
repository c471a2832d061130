#pragma once
// Waiting for operations of a device, for code that is no actor.

#include "runtime/ticket.hpp"

#include <condition_variable>
#include <mutex>
#include <set>

namespace hydra {

/// Hears the completions of one device; another thread waits.
class operation_wait {
 public:
  void complete(const completion& c);
  /// Returns when that operation has ended, at once for ticket 0. Throws fault_error with the first fault of any operation
  /// so far, which is why later ones were skipped.
  void for_end_of(ticket t);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<ticket> ended_;
  fault first_;
};

}  // namespace hydra
