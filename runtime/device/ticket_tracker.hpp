#pragma once
// Which operations of a device are done, and which of them failed.

#include "runtime/device/ticket.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_set>

namespace hydra {

/// Issues the tickets of one device and remembers how each ended, for as long as the device exists, because any later
/// operation may wait for any earlier one. Successes take no memory (an issued ticket that is neither outstanding nor
/// failed has succeeded); failures are kept as ranges of consecutive tickets, so that even a million cancelled
/// operations are one entry. Not thread-safe.
class ticket_tracker {
 public:
  /// Greater than all tickets issued before.
  ticket issue();
  void complete(ticket t, bool failed);

  /// True for ticket 0 and those that this tracker has issued.
  bool knows(ticket t) const noexcept { return t.value <= last_; }
  bool completed(ticket t) const { return !outstanding_.contains(t.value); }
  bool failed(ticket t) const;
  bool all_completed() const noexcept { return outstanding_.empty(); }

  std::size_t failed_runs() const noexcept { return failed_.size(); }

 private:
  std::uint64_t last_ = 0;
  std::unordered_set<std::uint64_t> outstanding_;
  std::map<std::uint64_t, std::uint64_t> failed_;  ///< first ticket of a range -> its last
};

}  // namespace hydra
