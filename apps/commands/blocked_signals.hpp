#pragma once
// Blocks SIGINT, SIGTERM and SIGHUP, so that they do not end the process.

#include <csignal>

namespace hydra::apps {

/// While the object exists, SIGINT, SIGTERM and SIGHUP stay pending until a thread waits for them. Threads inherit the
/// mask, so create the object before any thread. A signal that is ignored (SIGINT of a shell's background job, SIGHUP
/// behind nohup) stays ignored.
class blocked_signals {
 public:
  blocked_signals();
  ~blocked_signals();
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;

  /// The signals to wait for: these, and `wake()`.
  const sigset_t& all() const noexcept { return all_; }

  /// A signal that only threads of this process send to each other.
  static int wake() noexcept { return SIGRTMIN; }

 private:
  sigset_t all_;
  sigset_t before_;
};

}  // namespace hydra::apps
