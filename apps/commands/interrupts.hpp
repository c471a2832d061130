#pragma once
// What Ctrl-C, SIGTERM and a closed terminal do to a run.

#include "apps/commands/blocked_signals.hpp"

#include <functional>
#include <string>
#include <thread>

namespace hydra::apps {

/// A thread that waits for SIGINT, SIGTERM and SIGHUP. On the first it prints to stderr what happens and calls `first`
/// on that thread; the second ends the process at once, with status 130, but not SIGHUP: that nobody sees its output is
/// no reason not to save. Signals sent since `blocked` was made count.
class interrupts {
 public:
  /// `first` may be called until the destructor returns.
  /// `happens`: after the first one.
  interrupts(const blocked_signals& blocked, std::function<void()> first,
             std::string happens = "stopping, a training run saves its state first");
  /// While there is nothing to save: the first one prints `last_words` and ends the process, whatever its threads do.
  interrupts(const blocked_signals& blocked, std::string last_words) : interrupts(blocked, nullptr, last_words) {}
  ~interrupts();
  interrupts(const interrupts&) = delete;
  interrupts& operator=(const interrupts&) = delete;

 private:
  void watch() const;

  sigset_t signals_;
  std::function<void()> first_;
  std::string happens_;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace hydra::apps
