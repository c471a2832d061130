#pragma once
// SIGINT and SIGTERM, kept from ending the process.

#include <csignal>

namespace hydra::apps {

/// While it lives, SIGINT and SIGTERM wait for a thread that asks for them; every thread made meanwhile leaves them
/// alone, too, so make it before any other. One that is ignored (SIGINT of a shell's background job) stays ignored.
class blocked_signals {
 public:
  blocked_signals();
  ~blocked_signals();
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;

  /// What to wait for: the two, and `wake()`.
  const sigset_t& all() const noexcept { return all_; }

  /// A signal that only our own threads send to each other.
  static int wake() noexcept { return SIGRTMIN; }

 private:
  sigset_t all_;
  sigset_t before_;
};

}  // namespace hydra::apps
