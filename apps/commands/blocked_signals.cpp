#include "apps/commands/blocked_signals.hpp"

#include <initializer_list>

namespace hydra::apps {

namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

blocked_signals::blocked_signals() {
  ::sigemptyset(&all_);
  ::sigaddset(&all_, wake());
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal)) ::sigaddset(&all_, signal);
  ::pthread_sigmask(SIG_BLOCK, &all_, &before_);
}

/// A signal that arrives after all work is done would kill the program, and its exit status would report a failure.
blocked_signals::~blocked_signals() {
  const timespec at_once{};
  while (::sigtimedwait(&all_, nullptr, &at_once) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace hydra::apps
