#pragma once
// Host work outside the actors' threads: the optimizer's thread arena.

#include "runtime/base/bytes.hpp"
#include "runtime/device/ticket.hpp"

#include <functional>
#include <memory>

namespace hydra {

/// Runs jobs in the order of submission on a fixed number of workers; reports a completion per job, like a device's
/// queue.
class executor {
 public:
  virtual ~executor() = default;
  /// Called once, before the first submit. The sink must not block.
  virtual void on_completion(completion_sink sink) = 0;
  /// `estimate` is used by simulations only.
  virtual ticket submit(std::function<void()> work, duration estimate) = 0;
  virtual int workers() const noexcept = 0;
};

/// A TBB task arena of `threads` threads. A job may itself use parallel loops. The destructor waits for running jobs.
std::unique_ptr<executor> make_executor(int threads);

}  // namespace hydra
