#include "apps/commands/interrupts.hpp"

#include "tests/support/child_process.hpp"

#include <unistd.h>
#include <catch2/catch.hpp>

#include <chrono>
#include <future>
#include <thread>

namespace hydra::apps {

using test::child_end;
using test::in_child;

namespace {

const std::string first =
    "interrupted: stopping, a training run saves its state first; interrupt again to stop at once\n";
const std::string second = "interrupted again: stopped at once\n";

/// Sends each signal once the one before has been noticed, the second until it ends the process: at first it may belong
/// to the interrupt before. Ends with 7 if nothing ends it before.
int send(const std::vector<int>& signals) {
  const blocked_signals blocked;
  std::promise<void> noticed;
  const interrupts watch{blocked, [&] { noticed.set_value(); }};
  ::kill(::getpid(), signals.at(0));
  noticed.get_future().wait();
  while (signals.size() > 1) {
    ::kill(::getpid(), signals[1]);
    std::this_thread::yield();
  }
  return 7;
}

}  // namespace

TEST_CASE("the first signal prints a message and calls back, and the process continues") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const child_end end = in_child([signal] { return send({signal}); });
    CHECK(end.status == 7);
    CHECK(end.err == first);
  }
}

TEST_CASE("the second signal ends the process at once with status 130") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const child_end end = in_child([signal] { return send({SIGINT, signal}); });
    CHECK(end.status == 130);
    CHECK(end.err == first + second);
  }
}

TEST_CASE("a terminal that is closed while a run saves its state does not end it") {
  const child_end end = in_child([] {
    const blocked_signals blocked;
    std::promise<void> noticed;
    const interrupts watch{blocked, [&] { noticed.set_value(); }};
    ::kill(::getpid(), SIGINT);
    noticed.get_future().wait();
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);  // no part of the first one
    while (std::chrono::steady_clock::now() < until) {
      ::kill(::getpid(), SIGHUP);
      std::this_thread::yield();
    }
    return 7;
  });
  CHECK(end.status == 7);
  CHECK(end.err == first);
}

TEST_CASE("while there is nothing to save the first signal ends the process, whatever its threads do") {
  const child_end end = in_child([] {
    const blocked_signals blocked;
    const interrupts watch{blocked, "nothing was trained"};
    ::kill(::getpid(), SIGINT);
    std::promise<void>{}.get_future().wait();
    return 7;
  });
  CHECK(end.status == 130);
  CHECK(end.err == "nothing was trained\n");
}

TEST_CASE("a signal from before the watch is not lost, and threads leave it alone") {
  const child_end end = in_child([] {
    const blocked_signals blocked;
    std::async(std::launch::async, [] { ::kill(::getpid(), SIGTERM); }).wait();
    std::promise<void> noticed;
    const interrupts watch{blocked, [&] { noticed.set_value(); }};
    noticed.get_future().wait();
    return 7;
  });
  CHECK(end.status == 7);
  CHECK(end.err == first);
}

TEST_CASE("a watch without a signal ends quietly, as often as it is made") {
  const child_end end = in_child([] {
    int calls = 0;
    const blocked_signals blocked;
    for (int i = 0; i < 100; ++i) const interrupts watch{blocked, [&] { ++calls; }};
    return calls;
  });
  CHECK(end.status == 0);
  CHECK(end.err.empty());
}

TEST_CASE("signals are delivered again after the end of the scope that blocks them") {
  const child_end end = in_child([] {
    { const blocked_signals blocked; }
    ::raise(SIGTERM);
    return 7;
  });
  CHECK(end.status == 1000 + SIGTERM);
}

TEST_CASE("an ignored signal stays ignored, as that of a shell's background job") {
  const child_end end = in_child([] {
    ::signal(SIGINT, SIG_IGN);
    const blocked_signals blocked;
    return ::sigismember(&blocked.all(), SIGINT) + 2 * ::sigismember(&blocked.all(), SIGTERM);
  });
  CHECK(end.status == 2);
}

}  // namespace hydra::apps
