#include "runtime/device/streams/stream_device.hpp"

#include "runtime/device/streams/arena_memory.hpp"
#include "tests/support/completion_log.hpp"
#include "tests/conformance/device.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/host_pages.hpp"
#include "tests/support/host_streams.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

constexpr std::array all_queues{queue_kind::compute, queue_kind::h2d, queue_kind::d2h};

std::unique_ptr<device> make(byte_count memory, host_stream_options options = {}) {
  device_info info;
  info.name = "host:0";
  info.kind = "host";
  info.memory = memory;
  return make_stream_device(std::move(info), make_host_streams(std::move(options)), make_charged_memory(memory));
}

/// A device on host streams and the log of its completions.
struct bench {
  explicit bench(host_stream_options options = {}) : dev(make(64_MiB, std::move(options))) {
    dev->on_completion(log.sink());
  }

  ticket submit(queue_kind queue, std::function<void()> work, const std::vector<ticket>& after = {}) {
    operation op;
    op.work = std::move(work);
    op.label = {"execute_shard", "gpt-a"};
    return dev->submit(queue, std::move(op), after);
  }

  completion_log log;
  std::unique_ptr<device> dev;
};

/// Kernels on random queues, waiting for random tickets: each checks that those before it have run.
struct kernel_graph {
  explicit kernel_graph(bench& b) : done(count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::size_t> earlier;
      std::vector<ticket> after;
      for (std::size_t k = generator() % 4; k > 0 && i > 0; --k) {
        earlier.push_back(generator() % i);
        after.push_back(tickets[earlier.back()]);
      }
      const auto queue = all_queues[generator() % all_queues.size()];
      tickets.push_back(b.submit(
          queue, [this, i, earlier] { launch_kernel([this, i, earlier] { run(i, earlier); }); }, after));
    }
  }

  void run(std::size_t i, const std::vector<std::size_t>& earlier) {
    for (const auto e : earlier) {
      too_early += done[e] ? 0 : 1;
    }
    done[i] = true;
  }

  static constexpr std::size_t count = 300;
  std::mt19937 generator{7};
  std::vector<ticket> tickets;
  std::vector<std::atomic<bool>> done;
  std::atomic<int> too_early = 0;
};

}  // namespace

TEST_CASE("a device on streams conforms") {
  conforms([](byte_count budget) { return make(budget); });
}

TEST_CASE("kernels wait on the device for the work of the tickets that their operation names") {
  std::optional<kernel_graph> graph;
  bench b;
  graph.emplace(b);
  b.log.wait_for_count(graph->count);
  REQUIRE(graph->too_early == 0);
}

TEST_CASE("a completion is reported when the device has done the work, not when it is launched") {
  gate go;
  gate launched;
  std::atomic<bool> slow = false;  // false while the driver prepares
  bench b({.before_work = [&](queue_kind) { slow ? static_cast<void>(go.wait()) : void(); }});
  const opens_at_exit release{go};
  slow = true;
  const auto t = b.submit(queue_kind::compute, [&] {
    launch_kernel([] {});
    launched.open();
  });
  REQUIRE(launched.wait());
  REQUIRE(b.log.all().empty());
  go.open();
  REQUIRE_FALSE(b.log.wait_for(t).error);
}

TEST_CASE("computations are launched ahead of the device") {
  gate go;
  gate second_launched;
  std::vector<int> order;
  bench b;
  const opens_at_exit release{go};
  const auto copied = b.submit(queue_kind::h2d, [&] { launch_kernel([&] { go.wait(); order.push_back(0); }); });
  const auto first = b.submit(queue_kind::compute, [&] { launch_kernel([&] { order.push_back(1); }); }, {copied});
  const auto second = b.submit(queue_kind::compute, [&] {
    launch_kernel([&] { order.push_back(2); });
    second_launched.open();
  }, {first});
  REQUIRE(second_launched.wait());  // nothing has been done yet
  REQUIRE(b.log.all().empty());
  go.open();
  REQUIRE_FALSE(b.log.wait_for(second).error);
  REQUIRE(order == std::vector{0, 1, 2});
}

TEST_CASE("an operation that throws completes when what it launched before is done") {
  gate go;
  std::atomic<bool> ran = false;
  bench b;
  const opens_at_exit release{go};
  const auto t = b.submit(queue_kind::compute, [&] {
    launch_kernel([&] {
      go.wait();
      ran = true;
    });
    throw fault_error(fault_code::io, "on purpose");
  });
  const auto behind = b.submit(queue_kind::d2h, [] {}, {t});
  go.open();
  REQUIRE(b.log.wait_for(behind).error.code == fault_code::dependency_failed);
  REQUIRE(b.log.wait_for(t).error.code == fault_code::io);
  REQUIRE(b.log.wait_for(t).error.text == "execute_shard of gpt-a on host:0: on purpose");
  REQUIRE(ran);
}

TEST_CASE("a cause is reported as completed before its effects") {
  bench b;
  std::vector<std::pair<ticket, ticket>> pairs;
  for (int i = 0; i < 200; ++i) {
    const auto cause = b.submit(all_queues[static_cast<std::size_t>(i) % 3], [] { launch_kernel([] {}); });
    pairs.emplace_back(cause, b.submit(all_queues[static_cast<std::size_t>(i + 1) % 3], [] {}, {cause}));
  }
  std::map<ticket, std::size_t> place;
  for (const auto& c : b.log.wait_for_count(400)) {
    place.emplace(c.operation, place.size());
  }
  for (const auto& [cause, effect] : pairs) {
    REQUIRE(place.at(cause) < place.at(effect));
  }
}

TEST_CASE("if the driver fails for good, everything completes with a fault") {
  bench b({.before_work = {}, .records = 5});
  std::vector<ticket> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(b.submit(all_queues[static_cast<std::size_t>(i) % 3], [] {}));
  }
  int lost = 0;
  for (const auto& c : b.log.wait_for_count(20)) {
    lost += c.error.code == fault_code::device_lost ? 1 : 0;
  }
  REQUIRE(lost >= 15);
  REQUIRE(b.dev->stop(patience));
}

TEST_CASE("a device that fails without a notification is polled, and everything in progress completes") {
  const auto fails = std::make_shared<std::atomic<bool>>(false);
  bench b({.before_work = {}, .records = -1, .fails = fails});
  REQUIRE_FALSE(b.log.wait_for(b.submit(queue_kind::compute, [] {})).error);
  *fails = true;
  const auto under_way = b.submit(queue_kind::compute, [] {});
  const auto why = b.log.wait_for(under_way).error;
  REQUIRE(why.code == fault_code::device_lost);
  CHECK(why.text == "host:0: the stand-in has failed");
  const auto later = b.submit(queue_kind::h2d, [] {});
  REQUIRE(b.log.wait_for(later).error.code == fault_code::device_lost);
}

namespace {

/// Works like host streams; tests override a part.
class altered_streams : public stream_driver {
 public:
  std::shared_ptr<void> serve(queue_kind queue) override { return inside_->serve(queue); }
  void wait(queue_kind queue, const stream_event& event) override { inside_->wait(queue, event); }
  stream_event_ptr record(queue_kind queue) override { return inside_->record(queue); }
  void notify(queue_kind queue, const stream_event& event, std::function<void()> then) override {
    inside_->notify(queue, event, std::move(then));
  }
  void drain(queue_kind queue) override { inside_->drain(queue); }
  std::unique_ptr<work_meter> measure() override { return inside_->measure(); }
  page_locker* locker() noexcept override { return nullptr; }

 private:
  std::unique_ptr<stream_driver> inside_ = make_host_streams();
};

/// The first work of the device fails.
class unprepared final : public altered_streams {
 public:
  void prepare() override { throw fault_error(fault_code::out_of_memory, "no workspace"); }
};

/// From some time on there are no events on the compute queue.
class eventless final : public altered_streams {
 public:
  explicit eventless(std::shared_ptr<std::atomic<bool>> fails) : fails_(std::move(fails)) {}

  stream_event_ptr record(queue_kind queue) override {
    if (*fails_ && queue == queue_kind::compute) {
      throw fault_error(fault_code::out_of_memory, "no event");
    }
    return altered_streams::record(queue);
  }

 private:
  std::shared_ptr<std::atomic<bool>> fails_;
};

/// From some time on nothing is notified, which it does not take for its end.
class silent final : public altered_streams {
 public:
  explicit silent(std::shared_ptr<std::atomic<bool>> fails) : fails_(std::move(fails)) {}

  void notify(queue_kind queue, const stream_event& event, std::function<void()> then) override {
    if (*fails_) {
      throw fault_error(fault_code::internal, "no notice");
    }
    altered_streams::notify(queue, event, std::move(then));
  }

 private:
  std::shared_ptr<std::atomic<bool>> fails_;
};

/// The thread of the compute queue cannot launch.
class unserved final : public altered_streams {
 public:
  std::shared_ptr<void> serve(queue_kind queue) override {
    if (queue == queue_kind::compute) {
      throw fault_error(fault_code::internal, "no context");
    }
    return altered_streams::serve(queue);
  }
};

/// Its errors have texts of its own.
class explaining final : public altered_streams {
 public:
  fault explain(const std::exception_ptr& e) const noexcept override {
    return {fault_code::out_of_memory, "as the driver says: " + to_fault(e).text};
  }
};

/// Waits without a lock: the thread sanitizer must not take it for synchronization.
void await(const std::atomic<bool>& flag) {
  for (const auto limit = steady_clock::now() + patience;
       !flag.load(std::memory_order_relaxed) && steady_clock::now() < limit;) {
    std::this_thread::yield();
  }
}

/// Signals between two threads of a device that fails.
struct breakage {
  gate launched;                        ///< a computation, whose end event is about to be awaited
  std::atomic<bool> breaks = false;
  std::atomic<bool> reported = false;   ///< that computation, as failed
  std::atomic<bool> goes_on = false;    ///< the compute queue, after that
};

/// Its h2d queue finds it broken first; its compute queue finds it when that has been reported already.
class broken_twice final : public altered_streams {
 public:
  explicit broken_twice(std::shared_ptr<breakage> state) : state_(std::move(state)) {}

  stream_event_ptr record(queue_kind queue) override {
    if (state_->breaks && queue == queue_kind::h2d) {
      throw fault_error(fault_code::device_lost, "seen by h2d");
    }
    state_->goes_on.store(state_->reported.load(std::memory_order_relaxed), std::memory_order_relaxed);
    return altered_streams::record(queue);
  }
  void notify(queue_kind queue, const stream_event& event, std::function<void()> then) override {
    if (!state_->breaks) {
      altered_streams::notify(queue, event, std::move(then));
      return;
    }
    state_->launched.open();
    await(state_->reported);
    throw fault_error(fault_code::device_lost, "seen by compute");
  }

 private:
  std::shared_ptr<breakage> state_;
};

/// Closures take blocks of an arena; their kernels write into them later, on delayed streams, and check what they wrote
/// when the block has long been returned to the queue.
struct pattern_writers {
  pattern_writers() {
    device_info info;
    info.name = "host:0";
    const auto lag = [turn = std::make_shared<std::atomic<unsigned>>(0)](queue_kind) {
      for (unsigned i = turn->fetch_add(1) % 5; i > 0; --i) {
        std::this_thread::yield();
      }
    };
    dev = make_stream_device(std::move(info), make_host_streams({.before_work = lag}), memory);
    dev->on_completion(log.sink());
  }

  ticket submit(std::mt19937& generator, const std::vector<ticket>& after) {
    operation op;
    const auto value = static_cast<std::byte>(generator());
    const std::size_t n = (10 << 10) + generator() % (90 << 10);
    op.work = [this, value, n] {
      auto* const p = static_cast<std::byte*>(current_pool(c10::kCPU)->allocate(n));
      launch_kernel([p, n, value] { std::fill_n(p, n, value); });
      launch_kernel(
          [this, p, n, value] { wrong += std::count_if(p, p + n, [value](std::byte b) { return b != value; }); });
      current_pool(c10::kCPU)->release(p);  // the closure is done with it; the kernels have not started
    };
    return dev->submit(all_queues[generator() % 3], std::move(op), after);
  }

  std::shared_ptr<arena_memory> memory = std::make_shared<arena_memory>(make_host_pages(4_KiB, 64));
  std::atomic<std::int64_t> wrong = 0;
  completion_log log;
  std::unique_ptr<device> dev;
};

}  // namespace

TEST_CASE("creating a device whose first work fails throws") {
  REQUIRE_THROWS_WITH(make_stream_device({}, std::make_unique<unprepared>(), make_charged_memory(1_MiB)),
                      Catch::Contains("no workspace"));
}

TEST_CASE("work without an event is waited for, and nothing is lost") {
  const auto fails = std::make_shared<std::atomic<bool>>(false);
  std::atomic<bool> ran = false, in_order = false;
  completion_log log;
  const auto dev = make_stream_device({}, std::make_unique<eventless>(fails), make_charged_memory(1_MiB));
  dev->on_completion(log.sink());
  *fails = true;
  operation computing, copying;
  computing.work = [&] { launch_kernel([&] { ran = true; }); };
  copying.work = [&] { launch_kernel([&] { in_order = ran.load(); }); };
  const auto computed = dev->submit(queue_kind::compute, std::move(computing), {});
  const auto copied = dev->submit(queue_kind::d2h, std::move(copying), {&computed, 1});
  REQUIRE_FALSE(log.wait_for(computed).error);
  REQUIRE_FALSE(log.wait_for(copied).error);
  REQUIRE(in_order);
}

TEST_CASE("a device that cannot be notified is lost, and no model is blamed") {
  const auto fails = std::make_shared<std::atomic<bool>>(false);
  completion_log log;
  const auto dev = make_stream_device({}, std::make_unique<silent>(fails), make_charged_memory(1_MiB));
  dev->on_completion(log.sink());
  *fails = true;
  const auto first = dev->submit(queue_kind::compute, {}, {});
  REQUIRE(log.wait_for(first).error.code == fault_code::device_lost);
  const auto later = dev->submit(queue_kind::h2d, {}, {});
  REQUIRE(log.wait_for(later).error.code == fault_code::device_lost);
}

TEST_CASE("a device one of whose threads cannot launch is not made") {
  REQUIRE_THROWS_WITH(make_stream_device({}, std::make_unique<unserved>(), make_charged_memory(1_MiB)),
                      Catch::Matchers::EndsWith("cannot launch: no context"));
}

TEST_CASE("what a closure throws is explained by the driver, and named by operation and device") {
  device_info info;
  info.name = "host:0";
  completion_log log;
  const auto dev = make_stream_device(std::move(info), std::make_unique<explaining>(), make_charged_memory(1_MiB));
  dev->on_completion(log.sink());
  operation op;
  op.work = [] { throw std::runtime_error("error 2"); };
  op.label = {"demote_shard", "gradients of gpt-a"};
  const auto why = log.wait_for(dev->submit(queue_kind::d2h, std::move(op), {})).error;
  REQUIRE(why.code == fault_code::out_of_memory);
  REQUIRE(why.text == "demote_shard of gradients of gpt-a on host:0: as the driver says: error 2");
}

/// What has completed is read without a lock: only the thread sanitizer can detect a thread that still writes it.
TEST_CASE("a queue that finds its device broken late does not change what has completed") {
  const auto state = std::make_shared<breakage>();
  completion_log log;
  const auto dev = make_stream_device({}, std::make_unique<broken_twice>(state), make_charged_memory(1_MiB));
  dev->on_completion([state, notify = log.sink()](const completion& c) {
    notify(c);
    state->reported.store(true, std::memory_order_relaxed);
    await(state->goes_on);
  });
  state->breaks = true;
  const auto computed = dev->submit(queue_kind::compute, {}, {});
  REQUIRE(state->launched.wait());
  const auto copied = dev->submit(queue_kind::h2d, {}, {});
  const auto later = dev->submit(queue_kind::compute, {}, {});
  CHECK_THAT(log.wait_for(computed).error.text, Catch::EndsWith("seen by h2d"));
  CHECK_THAT(log.wait_for(copied).error.text, Catch::EndsWith("seen by h2d"));
  CHECK(log.wait_for(later).error.code == fault_code::device_lost);
}

TEST_CASE("bytes that a closure frees before its kernels have run are not reused by others until they have") {
  pattern_writers w;
  std::mt19937 generator(11);
  std::vector<ticket> all;
  for (int i = 0; i < 600; ++i) {
    const auto earlier =
        all.empty() || generator() % 2 == 0 ? std::vector<ticket>{} : std::vector{all[generator() % all.size()]};
    all.push_back(w.submit(generator, earlier));
  }
  for (const auto& c : w.log.wait_for_count(all.size())) {
    REQUIRE_FALSE(c.error);
  }
  REQUIRE(w.wrong == 0);
  REQUIRE(w.memory->usage().used == 0_B);
}
