#pragma once
// Ends another thread's wait in poll.

#include "apps/steering/descriptor.hpp"

namespace hydra::apps {

/// `number` can be read from (POLLIN) from `set` to `clear`. Thread-safe.
class wake_event {
 public:
  /// Throws fault_error{io} if the process can have no descriptor for it.
  wake_event();

  int number() const noexcept { return event_.number(); }
  void set() const noexcept;
  void clear() const noexcept;

 private:
  descriptor event_;
};

}  // namespace hydra::apps
