#pragma once
// The copies of trials that a search asks for: a thread lets them join the run.

#include "actors/selection/search_rule.hpp"

#include <oneapi/tbb/concurrent_queue.h>

#include <thread>

namespace hydra::apps {

class growing_steering;

class trial_copies {
 public:
  /// From any thread; returns at once. See search_hooks::copy.
  void begin(const trial_copy& copy) { queue_.push(copy); }

 private:
  friend class copying_thread;
  tbb::concurrent_bounded_queue<trial_copy> queue_;  ///< one without a name is the last
};

/// Carries them out while the run is under way. One that cannot begin is named on stderr.
class copying_thread {
 public:
  copying_thread(trial_copies& copies, growing_steering& run);
  ~copying_thread();
  copying_thread(const copying_thread&) = delete;
  copying_thread& operator=(const copying_thread&) = delete;

 private:
  void carry_out(growing_steering& run);

  trial_copies& copies_;
  std::thread thread_;
};

}  // namespace hydra::apps
