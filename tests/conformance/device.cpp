#include "tests/conformance/device.hpp"

#include "runtime/device/device_block.hpp"
#include "tests/support/completion_log.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/tensors.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

// Catch2's assertions are not thread-safe: operations only record, the test's own thread checks.

namespace hydra::test {

namespace {

using namespace hydra::literals;

constexpr byte_count budget = 64_MiB;
constexpr std::array all_queues{queue_kind::compute, queue_kind::h2d, queue_kind::d2h};

/// A device and the log of its completions.
struct bench {
  explicit bench(const device_factory& make, byte_count memory = budget) : dev(make(memory)) {
    dev->on_completion(log.sink());
  }

  ticket submit(queue_kind queue, std::function<void()> work, const std::vector<ticket>& after = {}) {
    operation op;
    op.work = std::move(work);
    op.label.name = "test";
    return dev->submit(queue, std::move(op), after);
  }

  fault error_of(ticket t) { return log.wait_for(t).error; }

  completion_log log;
  std::unique_ptr<device> dev;  // destroyed before the log it reports to
};

void fail_on_purpose() { throw fault_error{fault_code::io, "on purpose"}; }

// -- order ---

/// Three hundred operations on random queues; each waits for up to three earlier ones and checks that they are done.
struct random_graph {
  explicit random_graph(bench& b) : done(count) {
    for (std::size_t i = 0; i < count; ++i) submit_one(b, i);
  }

  void submit_one(bench& b, std::size_t i) {
    const queue_kind queue = all_queues[generator() % all_queues.size()];
    std::vector<std::size_t> earlier;
    for (std::size_t k = generator() % 4; k > 0 && i > 0; --k) earlier.push_back(generator() % i);
    std::vector<ticket> after;
    for (const auto e : earlier) after.push_back(tickets[e]);
    const auto work = [this, i, earlier, queue] { visit(i, earlier, queue); };
    tickets.push_back(b.submit(queue, work, after));
    queue_of[tickets.back()] = queue;
  }

  void visit(std::size_t i, const std::vector<std::size_t>& earlier, queue_kind queue) {
    auto& inside = busy[static_cast<std::size_t>(queue)];
    if (inside.fetch_add(1) != 0) ++overlaps;
    for (const auto e : earlier)
      if (!done[e]) ++too_early;
    done[i] = true;
    inside.fetch_sub(1);
  }

  static constexpr std::size_t count = 300;
  std::mt19937 generator{20240607};
  std::vector<ticket> tickets;
  std::map<ticket, queue_kind> queue_of;
  std::vector<std::atomic<bool>> done;
  std::array<std::atomic<int>, 3> busy{};
  std::atomic<int> overlaps = 0;
  std::atomic<int> too_early = 0;
};

void one_queue_runs_in_order_of_submission(const device_factory& make) {
  std::vector<int> order;
  bench b{make};
  ticket last;
  for (int i = 0; i < 100; ++i) {
    const ticket next = b.submit(queue_kind::h2d, [&order, i] { order.push_back(i); });
    REQUIRE(next > last);
    last = next;
  }
  REQUIRE_FALSE(b.error_of(last));
  REQUIRE(order.size() == 100);
  REQUIRE(std::ranges::is_sorted(order));
}

void queues_run_concurrently(const device_factory& make) {
  std::array<gate, 3> entered;
  std::atomic<int> met = 0;
  bench b{make};
  for (const auto queue : all_queues)
    b.submit(queue, [&, queue] {
      entered[static_cast<std::size_t>(queue)].open();
      if (std::ranges::all_of(entered, &gate::wait)) ++met;
    });
  b.log.wait_for_count(3);
  REQUIRE(met == 3);
}

void operations_wait_for_their_tickets(const device_factory& make) {
  std::optional<random_graph> graph;
  bench b{make};
  graph.emplace(b);
  b.log.wait_for_count(graph->count);
  REQUIRE(graph->too_early == 0);
  REQUIRE(graph->overlaps == 0);
}

void submit_does_not_wait(const device_factory& make) {
  gate go;
  std::atomic<bool> in_time = false;
  bench b{make};
  const opens_at_exit release{go};
  const ticket first = b.submit(queue_kind::h2d, [&] { in_time = go.wait(); });
  const ticket second = b.submit(queue_kind::compute, [] {}, {first});
  const ticket third = b.submit(queue_kind::d2h, [] {}, {first, second});
  REQUIRE(b.log.all().empty());
  go.open();
  REQUIRE_FALSE(b.error_of(third));
  REQUIRE(in_time);
}

void a_closed_dependency_holds_only_those_that_name_it(const device_factory& make) {
  gate go;
  std::atomic<bool> ran = false;
  bench b{make};
  const opens_at_exit release{go};
  const ticket blocked = b.submit(queue_kind::h2d, [&] { go.wait(); });
  const ticket waiting = b.submit(queue_kind::compute, [&] { ran = true; }, {blocked});
  REQUIRE_FALSE(b.error_of(b.submit(queue_kind::d2h, [] {})));
  REQUIRE_FALSE(ran);
  go.open();
  REQUIRE_FALSE(b.error_of(waiting));
  REQUIRE(ran);
}

// -- completions ---

void each_operation_completes_once_in_queue_order(const device_factory& make) {
  std::optional<random_graph> graph;
  std::vector<completion> all;
  {
    bench b{make};
    graph.emplace(b);
    b.log.wait_for_count(graph->count);
    b.dev.reset();
    all = b.log.all();
  }
  REQUIRE(all.size() == graph->count);
  std::map<queue_kind, completion> previous;
  for (const auto& c : all) {
    auto& before = previous[graph->queue_of.at(c.operation)];
    REQUIRE(c.operation > before.operation);
    REQUIRE(c.begin <= c.end);
    if (before.operation) REQUIRE(c.begin >= before.end);
    before = c;
  }
}

void the_sink_runs_on_a_thread_of_the_device(const device_factory& make) {
  std::set<std::thread::id> threads;
  std::mutex mutex;
  completion_log log;
  auto dev = make(budget);
  dev->on_completion([&, forward = log.sink()](const completion& c) {
    {
      const std::lock_guard lock{mutex};
      threads.insert(std::this_thread::get_id());
    }
    forward(c);
  });
  for (const auto queue : all_queues) dev->submit(queue, {}, {});
  log.wait_for_count(3);
  dev.reset();
  REQUIRE(threads.size() >= 1);
  REQUIRE_FALSE(threads.contains(std::this_thread::get_id()));
}

/// Counts the closures that exist; the sink reads it when the completion is posted.
void the_closure_dies_before_its_completion(const device_factory& make) {
  std::map<ticket, std::weak_ptr<int>> held;
  std::atomic<int> alive_at_completion = 0;
  gate go;
  completion_log log;
  auto dev = make(budget);
  dev->on_completion([&, forward = log.sink()](const completion& c) {
    go.wait();  // until `held` is complete
    if (!held.at(c.operation).expired()) ++alive_at_completion;
    forward(c);
  });
  const auto submit = [&](void (*work)(), std::vector<ticket> after) {
    auto token = std::make_shared<int>();
    const std::weak_ptr<int> watch = token;
    operation op;
    op.work = [token = std::move(token), work] { work(); };
    const ticket t = dev->submit(queue_kind::compute, std::move(op), after);
    held[t] = watch;
    return t;
  };
  const opens_at_exit release{go};
  submit([] {}, {});
  const ticket failed = submit(&fail_on_purpose, {});
  const ticket skipped = submit([] {}, {failed});
  go.open();
  REQUIRE(log.wait_for(failed).error.code == fault_code::io);
  REQUIRE(log.wait_for(skipped).error.code == fault_code::dependency_failed);
  dev.reset();
  REQUIRE(alive_at_completion == 0);
}

void many_threads_may_submit(const device_factory& make) {
  constexpr int each = 100;
  std::atomic<int> ran = 0;
  bench b{make};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&, c] {
      for (int i = 0; i < each; ++i) b.submit(all_queues[static_cast<std::size_t>(c + i) % 3], [&] { ++ran; });
    });
  for (auto& caller : callers) caller.join();
  const auto all = b.log.wait_for_count(4 * each);
  std::set<ticket> distinct;
  for (const auto& c : all) distinct.insert(c.operation);
  REQUIRE(distinct.size() == 4 * each);
  REQUIRE(ran == 4 * each);
}

// -- failures ---

void what_waits_for_a_failure_is_skipped(const device_factory& make) {
  std::atomic<int> ran = 0;
  bench b{make};
  const ticket failed = b.submit(queue_kind::h2d, &fail_on_purpose);
  const ticket skipped = b.submit(queue_kind::compute, [&] { ++ran; }, {failed});
  const ticket skipped_too = b.submit(queue_kind::d2h, [&] { ++ran; }, {skipped});
  const fault first = b.error_of(skipped);
  REQUIRE(first.code == fault_code::dependency_failed);
  REQUIRE_THAT(first.text, Catch::Contains("ticket " + std::to_string(failed.value)));
  REQUIRE(b.error_of(skipped_too).code == fault_code::dependency_failed);
  REQUIRE(ran == 0);
}

void a_failure_of_long_ago_is_remembered(const device_factory& make) {
  bench b{make};
  const ticket good = b.submit(queue_kind::h2d, [] {});
  const ticket failed = b.submit(queue_kind::h2d, &fail_on_purpose);
  const ticket also_good = b.submit(queue_kind::h2d, [] {});
  REQUIRE_FALSE(b.error_of(also_good));
  REQUIRE(b.error_of(b.submit(queue_kind::compute, [] {}, {failed})).code == fault_code::dependency_failed);
  REQUIRE_FALSE(b.error_of(b.submit(queue_kind::compute, [] {}, {ticket{}, good, also_good})));
}

void the_queue_goes_on_after_an_exception(const device_factory& make) {
  bench b{make};
  const ticket ours = b.submit(queue_kind::compute, &fail_on_purpose);
  const ticket foreign = b.submit(queue_kind::compute, [] { throw std::runtime_error{"of the library"}; });
  const ticket next = b.submit(queue_kind::compute, [] {});
  REQUIRE(b.error_of(ours).code == fault_code::io);
  REQUIRE(b.error_of(ours).text.ends_with("on purpose"));
  REQUIRE(b.error_of(foreign).code == fault_code::internal);
  REQUIRE(b.error_of(foreign).text.ends_with("of the library"));
  REQUIRE_FALSE(b.error_of(next));
}

void broken_promises_of_the_caller_are_refused(const device_factory& make) {
  completion_log log;
  const auto dev = make(budget);
  REQUIRE_THROWS_AS(dev->submit(queue_kind::compute, {}, {}), fault_error);
  dev->on_completion(log.sink());
  const std::array foreign{ticket{1000}};
  REQUIRE_THROWS_AS(dev->submit(queue_kind::compute, {}, foreign), fault_error);
  REQUIRE_FALSE(log.wait_for(dev->submit(queue_kind::compute, {}, {})).error);
}

// -- memory ---

void tensors_are_charged_until_they_are_freed(const device_factory& make) {
  bench b{make};
  const auto block = std::make_shared<device_block>();
  const auto where = b.dev->info().torch_device;
  const byte_count before = b.dev->memory().used;
  REQUIRE_FALSE(b.error_of(b.submit(queue_kind::h2d, [=] { block->tensor = tensor_of(8_MiB, where); })));
  REQUIRE(b.dev->memory().used >= before + 8_MiB);
  REQUIRE(b.dev->memory().peak >= before + 8_MiB);
  REQUIRE(b.dev->memory().budget == b.dev->info().memory);
  std::thread{[&] { block->tensor.reset(); }}.join();
  REQUIRE(b.dev->memory().used == before);
}

void a_charge_beyond_the_budget_leaves_nothing_behind(const device_factory& make) {
  bench b{make};
  const auto where = b.dev->info().torch_device;
  const byte_count before = b.dev->memory().used;
  const ticket too_much = b.submit(queue_kind::compute, [=] { const auto huge = tensor_of(budget * 3, where); });
  const ticket in_two_parts = b.submit(queue_kind::compute, [=] {
    const auto first = tensor_of(40_MiB, where);
    const auto second = tensor_of(40_MiB, where);
  });
  const ticket fits = b.submit(queue_kind::compute, [=] { const auto again = tensor_of(40_MiB, where); });
  REQUIRE(b.error_of(too_much).code == fault_code::out_of_memory);
  REQUIRE(b.error_of(in_two_parts).code == fault_code::out_of_memory);
  REQUIRE_FALSE(b.error_of(fits));
  REQUIRE(b.dev->memory().used == before);
  REQUIRE(b.dev->memory().peak <= b.dev->memory().budget);
}

// -- the end ---

void stop_gives_up_what_has_not_begun(const device_factory& make) {
  gate entered;
  gate go;
  std::atomic<int> ran = 0;
  bench b{make};
  const opens_at_exit release{go};
  const ticket running = b.submit(queue_kind::compute, [&] {
    entered.open();
    go.wait();
  });
  std::vector<ticket> rest;
  for (const auto queue : all_queues) rest.push_back(b.submit(queue, [&] { ++ran; }, {running}));
  REQUIRE(entered.wait());
  b.dev->stop({});
  b.dev->stop({});
  rest.push_back(b.submit(queue_kind::d2h, [&] { ++ran; }));
  go.open();
  REQUIRE_FALSE(b.error_of(running));
  for (const ticket t : rest) REQUIRE(b.error_of(t).code == fault_code::cancelled);
  REQUIRE(ran == 0);
}

void stop_waits_within_its_limit(const device_factory& make) {
  gate entered;
  gate go;
  bench b{make};
  const opens_at_exit release{go};
  b.submit(queue_kind::compute, [&] {
    entered.open();
    go.wait();
  });
  for (const auto queue : all_queues) b.submit(queue, [] {});
  REQUIRE(entered.wait());
  REQUIRE_FALSE(b.dev->stop({}));
  REQUIRE_FALSE(b.dev->stop(std::chrono::milliseconds{1}));
  go.open();
  REQUIRE(b.dev->stop(patience));
  REQUIRE(b.log.all().size() == 4);  // true means that all of them have been reported
}

void stop_of_a_device_at_rest_does_not_wait(const device_factory& make) {
  bench b{make};
  b.log.wait_for(b.submit(queue_kind::compute, [] {}));
  const auto start = steady_clock::now();
  REQUIRE(b.dev->stop(patience));
  REQUIRE(steady_clock::now() - start < patience);
}

void the_destructor_waits_for_what_runs(const device_factory& make) {
  gate entered;
  gate go;
  std::atomic<bool> finished = false;
  bool finished_before_destruction = false;
  bench b{make};
  b.submit(queue_kind::compute, [&] {
    entered.open();
    go.wait();
    finished = true;
  });
  for (const auto queue : all_queues) b.submit(queue, [] {});
  const bool running = entered.wait();
  std::thread destroyer{[&] {
    b.dev.reset();
    finished_before_destruction = finished;
  }};
  go.open();
  destroyer.join();
  REQUIRE(running);
  REQUIRE(finished_before_destruction);
  REQUIRE(b.log.all().size() == 4);
}

struct requirement {
  const char* name;
  void (*check)(const device_factory&);
};

constexpr requirement of_all[] = {
    {"operations of one queue run in the order of submission", &one_queue_runs_in_order_of_submission},
    {"an operation runs only when all tickets it names have completed", &operations_wait_for_their_tickets},
    {"no thread of the caller waits for tickets", &submit_does_not_wait},
    {"each operation is completed once, in the order of its queue", &each_operation_completes_once_in_queue_order},
    {"the sink runs on a thread of the device", &the_sink_runs_on_a_thread_of_the_device},
    {"the closure is destroyed before its completion is posted", &the_closure_dies_before_its_completion},
    {"several threads may submit at once", &many_threads_may_submit},
    {"an operation whose ticket failed is skipped, and so are its dependents", &what_waits_for_a_failure_is_skipped},
    {"a ticket that failed long ago is remembered", &a_failure_of_long_ago_is_remembered},
    {"an exception becomes a fault and the queue continues", &the_queue_goes_on_after_an_exception},
    {"an unknown ticket and a missing receiver are refused", &broken_promises_of_the_caller_are_refused},
    {"tensors of closures are charged until they are freed, by whichever thread",
     &tensors_are_charged_until_they_are_freed},
    {"a charge beyond the budget is out of memory and leaves nothing behind",
     &a_charge_beyond_the_budget_leaves_nothing_behind},
    {"stop cancels what has not started and does not wait", &stop_gives_up_what_has_not_begun},
    {"stop waits for what is running, but no longer than its limit, and reports whether it has ended",
     &stop_waits_within_its_limit},
    {"stop returns at once when nothing runs", &stop_of_a_device_at_rest_does_not_wait},
    {"the destructor waits for the running operation and completes the rest", &the_destructor_waits_for_what_runs},
};

constexpr requirement of_concurrent_queues[] = {
    {"queues run concurrently", &queues_run_concurrently},
    {"a queue continues while another waits", &a_closed_dependency_holds_only_those_that_name_it},
};

}  // namespace

void conforms(const device_factory& make, device_traits traits) {
  for (const auto& [name, check] : of_all) {
    SECTION(name) { check(make); }
  }
  if (!traits.concurrent_queues) return;
  for (const auto& [name, check] : of_concurrent_queues) {
    SECTION(name) { check(make); }
  }
}

}  // namespace hydra::test
