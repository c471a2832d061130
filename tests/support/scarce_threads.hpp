#pragma once
// Simulates a system without free threads. Programs that link this start all their threads through it.

namespace hydra::test {

/// While it exists, the thread that created it can start so many more.
class scarce_threads {
 public:
  explicit scarce_threads(int left);
  ~scarce_threads();
  scarce_threads(const scarce_threads&) = delete;
  scarce_threads& operator=(const scarce_threads&) = delete;
};

}  // namespace hydra::test
