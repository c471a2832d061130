#include "runtime/device/cpu/cpu_device.hpp"

#include "runtime/device/cpu/accounting_allocator.hpp"
#include "runtime/device/device_block.hpp"
#include "tests/support/core_time.hpp"
#include "tests/support/completion_log.hpp"
#include "tests/conformance/device.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/tensors.hpp"

#include <ATen/Parallel.h>
#include <pthread.h>
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace std::chrono_literals;
using hydra::test::completion_log;
using hydra::test::tensor_of;

namespace {

constexpr std::array all_queues{queue_kind::compute, queue_kind::h2d, queue_kind::d2h};

/// A virtual device and the log of its completions.
struct bench {
  explicit bench(const cpu_device& options) : dev(make_cpu_device("cpu:0", options)) { dev->on_completion(log.sink()); }

  ticket submit(queue_kind queue, std::function<void()> work, byte_count bytes = {}, std::vector<ticket> after = {}) {
    operation op;
    op.work = std::move(work);
    op.bytes = bytes;
    op.label = {"forward", "gpt-a shard 3"};
    return dev->submit(queue, std::move(op), after);
  }

  completion run(queue_kind queue, std::function<void()> work, byte_count bytes = {}) {
    return log.wait_for(submit(queue, std::move(work), bytes));
  }

  completion_log log;
  std::unique_ptr<device> dev;  // destroyed before the log it reports to
};

fault refusal(const cpu_device& options) {
  try {
    make_cpu_device("cpu:0", options);
    return {};
  } catch (const fault_error& e) {
    return e.what_happened();
  }
}

std::string thread_name() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

void nothing() {}

/// Work whose own time can be measured: that on a core.
duration calculate() {
  const auto begin = test::core_time();
  volatile double x = 1;
  for (int i = 0; i < 200000; ++i) x = std::sin(x);
  return test::core_time() - begin;
}

}  // namespace

TEST_CASE("the virtual device conforms to the device interface") {
  test::conforms([](byte_count budget) { return make_cpu_device("cpu:0", {.memory = budget}); });
}

TEST_CASE("a slow virtual device with latency conforms as well") {
  test::conforms([](byte_count budget) {
    return make_cpu_device("cpu:0", {.memory = budget, .link = 100_GiB_per_s, .latency = 1us, .speed = 0.5});
  });
}

TEST_CASE("a virtual device describes itself by its options") {
  const auto dev = make_cpu_device("cpu:7", {.memory = 24_MiB, .link = 1_GiB_per_s, .latency = 20us, .speed = 0.5});
  REQUIRE(dev->info().name == "cpu:7");
  REQUIRE(dev->info().kind == "cpu");
  REQUIRE(dev->info().memory == 24_MiB);
  REQUIRE(dev->info().reserve == 0_B);
  REQUIRE(dev->info().link == 1_GiB_per_s);
  REQUIRE(dev->info().latency == 20us);
  REQUIRE(dev->info().speed == 0.5);
  REQUIRE(dev->info().torch_device == "cpu");
}

TEST_CASE("impossible options are refused by name") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<cpu_device, std::string>> wrong{
      {{}, "memory"},
      {{.memory = 1_MiB, .threads = 0}, "threads"},
      {{.memory = 1_MiB, .speed = 0}, "speed"},
      {{.memory = 1_MiB, .speed = 1.5}, "speed"},
      {{.memory = 1_MiB, .speed = nan}, "speed"},
      {{.memory = 1_MiB, .speed = 1e-300}, "speed must be at least 1e-6"},
      {{.memory = 1_MiB, .latency = -1ns}, "latency"},
      {{.memory = 1_MiB, .latency = 2h}, "latency must be at most 1 h"},
      {{.memory = 1_MiB, .link = byte_rate{-1}}, "link"},
      {{.memory = 1_MiB, .link = byte_rate{nan}}, "link"},
  };
  for (const auto& [options, what] : wrong) {
    const fault f = refusal(options);
    REQUIRE(f.code == fault_code::bad_input);
    REQUIRE_THAT(f.text, Catch::Contains("cpu:0") && Catch::Contains(what));
  }
}

TEST_CASE("each queue has a named thread of its own") {
  bench b{{.memory = 1_MiB}};
  std::array<std::string, 3> names;
  for (const auto queue : all_queues) b.run(queue, [&] { names[static_cast<std::size_t>(queue)] = thread_name(); });
  REQUIRE(names == std::array<std::string, 3>{"cpu:0 compute", "cpu:0 h2d", "cpu:0 d2h"});
}

TEST_CASE("the compute queue keeps its number of threads whatever others set later") {
  bench b{{.memory = 1_MiB, .threads = 2}};
  for (const auto queue : all_queues) b.run(queue, [] {});  // so that all have started
  at::set_num_threads(1);
  std::array<int, 3> threads{};
  for (const auto queue : all_queues)
    b.run(queue, [&] {
      at::parallel_for(0, 2, 1, [](std::int64_t, std::int64_t) {});
      threads[static_cast<std::size_t>(queue)] = at::get_num_threads();
    });
  REQUIRE(threads == std::array{2, 1, 1});
}

TEST_CASE("a copy takes at least latency plus bytes over rate, a computation does not") {
  bench b{{.memory = 1_MiB, .link = 1_GiB_per_s, .latency = 1ms}};
  for (const auto queue : {queue_kind::h2d, queue_kind::d2h}) {
    const auto copy = b.run(queue, nothing, 2_MiB);
    REQUIRE(copy.end - copy.begin >= 1ms + (1_GiB_per_s).time_for(2_MiB));
  }
  const auto computed = b.run(queue_kind::compute, nothing, 1_GiB * 1024);  // at this rate: 17 minutes
  REQUIRE_FALSE(computed.error);
}

TEST_CASE("computing at half speed takes at least twice the time of the work") {
  bench b{{.memory = 1_MiB, .speed = 0.5}};
  duration work{};
  const auto computed = b.run(queue_kind::compute, [&] { work = calculate(); });
  REQUIRE(work > 0ns);
  REQUIRE(computed.end - computed.begin >= 2 * work);
}

TEST_CASE("times of an operation exclude waiting for its tickets") {
  bench b{{.memory = 1_MiB}};
  test::gate go;
  const test::opens_at_exit release{go};
  const ticket blocked = b.submit(queue_kind::h2d, [&] { go.wait(); });
  const ticket waiting = b.submit(queue_kind::compute, [] {}, {}, {blocked});
  go.open();
  REQUIRE(b.log.wait_for(waiting).begin >= b.log.wait_for(blocked).end);
}

TEST_CASE("completions arrive in causal order across queues") {
  bench b{{.memory = 1_MiB}};
  ticket last;
  for (std::size_t i = 0; i < 3000; ++i) last = b.submit(all_queues[i % 3], [] {}, {}, {last});
  b.log.wait_for(last);
  const auto all = b.log.all();
  REQUIRE(std::ranges::is_sorted(all, {}, &completion::operation));
}

TEST_CASE("the budget of a virtual device is exact at its boundary") {
  for (const bool enough : {true, false}) {
    bench b{{.memory = enough ? 1_MiB : 1_MiB - 512_B}};
    const auto done = b.run(queue_kind::compute, [] {
      const auto first = tensor_of(600_KiB);
      const auto second = tensor_of(424_KiB);
    });
    REQUIRE(done.error.code == (enough ? fault_code::none : fault_code::out_of_memory));
    REQUIRE(b.dev->memory().used == 0_B);
    REQUIRE(b.dev->memory().peak == (enough ? 1_MiB : 600_KiB));
  }
}

TEST_CASE("devices have budgets of their own and every queue is charged") {
  bench b{{.memory = 1_MiB}};
  const auto other = make_cpu_device("cpu:1", {.memory = 1_MiB});
  std::vector<device_block> blocks(3);
  for (const auto queue : all_queues)
    b.run(queue, [&] { blocks[static_cast<std::size_t>(queue)].tensor = tensor_of(100_KiB); });
  REQUIRE(b.dev->memory().used == 300_KiB);
  REQUIRE(other->memory().peak == 0_B);
}

TEST_CASE("tensors may outlive their device") {
  device_block block;
  {
    bench b{{.memory = 1_MiB}};
    b.run(queue_kind::h2d, [&] { block.tensor = tensor_of(100_KiB); });
  }
  REQUIRE(block.tensor.numel() == 100 * 1024);
}

TEST_CASE("stop cancels operations that wait for a running one at once") {
  bench b{{.memory = 1_MiB}};
  test::gate entered;
  test::gate go;
  const test::opens_at_exit release{go};
  const ticket running = b.submit(queue_kind::compute, [&] {
    entered.open();
    go.wait();
  });
  const ticket waiting = b.submit(queue_kind::h2d, [] {}, {}, {running});
  REQUIRE(entered.wait());
  b.dev->stop({});
  REQUIRE(b.log.wait_for(waiting).error.code == fault_code::cancelled);  // while the other still runs
  go.open();
  REQUIRE_FALSE(b.log.wait_for(running).error);
}

TEST_CASE("the destructor cancels operations that wait for a running one at once") {
  bench b{{.memory = 1_MiB}};
  test::gate entered;
  test::gate go;
  const ticket running = b.submit(queue_kind::compute, [&] {
    entered.open();
    go.wait();
  });
  const ticket waiting = b.submit(queue_kind::h2d, [] {}, {}, {running});
  const bool begun = entered.wait();
  std::jthread destroyer{[&] { b.dev.reset(); }};
  const test::opens_at_exit release{go};
  const auto cancelled = b.log.wait_for(waiting);
  go.open();
  destroyer.join();
  REQUIRE(begun);
  REQUIRE(cancelled.error.code == fault_code::cancelled);
}

TEST_CASE("a skipped operation says what it was, where, and which ticket failed") {
  bench b{{.memory = 1_MiB}};
  const ticket failed = b.submit(queue_kind::h2d, [] { throw fault_error{fault_code::io, "on purpose"}; });
  const auto skipped = b.log.wait_for(b.submit(queue_kind::compute, [] {}, {}, {failed}));
  REQUIRE(skipped.error.text == "forward of gpt-a shard 3 did not run on cpu:0: it waits for ticket 1, which failed");
  b.dev->stop({});
  REQUIRE(b.run(queue_kind::compute, [] {}).error.text == "forward of gpt-a shard 3 did not run: cpu:0 was stopped");
}

TEST_CASE("a skipped copy takes no time of the link") {
  bench b{{.memory = 1_MiB, .link = 1_GiB_per_s}};
  const ticket failed = b.submit(queue_kind::compute, [] { throw fault_error{fault_code::io, "on purpose"}; });
  const auto skipped = b.log.wait_for(b.submit(queue_kind::h2d, [] {}, 1_GiB * 1024, {failed}));  // would be 17 minutes
  REQUIRE(skipped.error.code == fault_code::dependency_failed);
}

TEST_CASE("twenty thousand operations leave no memory behind") {
  bench b{{.memory = 64_MiB}};
  ticket last;
  for (std::size_t i = 0; i < 20000; ++i) last = b.submit(all_queues[i % 3], [] { tensor_of(1_KiB); }, {}, {last});
  b.log.wait_for(last);
  REQUIRE(b.dev->memory().used == 0_B);
  REQUIRE(b.dev->memory().peak <= 3_KiB);
}
