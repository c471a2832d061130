#pragma once
// Concurrency in tests by plain threads: ThreadSanitizer does not know the TBB library and would report its internals.

#include <array>
#include <barrier>
#include <thread>

namespace hydra::test {

/// Calls `work(i)` for all i below `count` from four threads, which start together.
template <class Work>
void in_parallel(int count, Work work) {
  std::array<std::thread, 4> threads;
  std::barrier start{4};
  for (int t = 0; t < 4; ++t)
    threads[static_cast<std::size_t>(t)] = std::thread{[=, &work, &start] {
      start.arrive_and_wait();
      for (int i = t; i < count; i += 4) work(i);
    }};
  for (auto& thread : threads) thread.join();
}

}  // namespace hydra::test
