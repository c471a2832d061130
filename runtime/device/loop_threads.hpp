#pragma once
// The threads of parallel loops on the host, and of executors. TBB makes each when there is work for it; where the
// system refuses one, whoever has brought that work waits for ever.

#include <oneapi/tbb/task_arena.h>

namespace hydra {

/// While it exists TBB has all threads that it will ever use: one less than there are cores, at least `least` and one.
class loop_threads {
 public:
  /// Throws fault_error{bad_input} if the system has too few; ends the process if others take them in between.
  explicit loop_threads(int least);

 private:
  /// TBB's threads end with the last arena; the first one decides how many there may be
  oneapi::tbb::task_arena held_;
};

}  // namespace hydra
