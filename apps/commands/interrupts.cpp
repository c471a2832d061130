#include "apps/commands/interrupts.hpp"

#include "actors/report/terminal.hpp"
#include "apps/commands/exit_status.hpp"

#include <unistd.h>

#include <chrono>
#include <string>

namespace hydra::apps {

namespace {

/// Writes with one call and without stdio, whose lock a run that hangs may hold. On a terminal it overwrites the live
/// lines.
void say(const std::string& text) {
  const std::string line = (terminal_of(STDERR_FILENO).live ? "\r\x1b[J" : "") + text + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

/// `timeout` signals the program and then its group: that is one interrupt.
constexpr auto same_interrupt = std::chrono::milliseconds{100};

/// The signal; 0 if the watch has ended.
int wait_for_signal(const sigset_t& signals) {
  int signal = 0;
  ::sigwait(&signals, &signal);
  return signal == blocked_signals::wake() ? 0 : signal;
}

}  // namespace

interrupts::interrupts(const blocked_signals& blocked, std::function<void()> first, std::string happens)
    : signals_{blocked.all()}, first_{std::move(first)}, happens_{std::move(happens)}, thread_{[this] { watch(); }} {}

interrupts::~interrupts() {
  ::pthread_kill(thread_.native_handle(), blocked_signals::wake());
  thread_.join();
}

void interrupts::watch() const {
  if (wait_for_signal(signals_) == 0) return;
  if (!first_) {
    say(happens_);
    ::_exit(exit_status::interrupted);
  }
  say("interrupted: " + happens_ + "; interrupt again to stop at once");
  first_();
  const auto began = std::chrono::steady_clock::now();
  int signal = 0;
  do {
    signal = wait_for_signal(signals_);
    if (signal == 0) return;
  } while (signal == SIGHUP || std::chrono::steady_clock::now() - began < same_interrupt);
  say("interrupted again: stopped at once");
  ::_exit(exit_status::interrupted);
}

}  // namespace hydra::apps
