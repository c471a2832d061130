#pragma once
// Simulates a system without free threads. Programs that link this start all their threads through it.

namespace hydra::test {

/// While it exists, the thread that created it can start so many more; those that end do not make room.
class scarce_threads {
 public:
  /// -1: not limited.
  explicit scarce_threads(int left);
  ~scarce_threads();
  scarce_threads(const scarce_threads&) = delete;
  scarce_threads& operator=(const scarce_threads&) = delete;
};

/// While it exists, no thread of the process can start another one.
class no_more_threads {
 public:
  no_more_threads();
  ~no_more_threads();
  no_more_threads(const no_more_threads&) = delete;
  no_more_threads& operator=(const no_more_threads&) = delete;
};

}  // namespace hydra::test
