#include "apps/steering/trial_copies.hpp"

#include "apps/steering/growing_steering.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/tell_line.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace hydra::apps {

namespace {

template <class Action>
fault failure_of(const Action& action) {
  try {
    action();
    return {};
  } catch (...) {
    return to_fault(std::current_exception());
  }
}

}  // namespace

copying_thread::copying_thread(trial_copies& copies, growing_steering& run)
    : copies_{copies}, thread_{[this, &run] { carry_out(run); }} {}

copying_thread::~copying_thread() {
  copies_.queue_.push({});
  thread_.join();
}

void copying_thread::carry_out(growing_steering& run) {
  trial_copy next;
  for (copies_.queue_.pop(next); !next.trial.empty(); copies_.queue_.pop(next)) {
    const fault why = failure_of([&] { run.copy(next); });
    if (why.code == fault_code::refused) continue;  // the run ends, and asks again when it is resumed
    if (why) tell_line(fmt::format("{}, a copy of {}, does not begin: {}", next.trial, next.of, why.text));
    run.copy_begun(next, !why);
  }
}

}  // namespace hydra::apps
