#include "runtime/device/cpu/cpu_device.hpp"

#include "runtime/base/thread_supply.hpp"
#include "runtime/device/cpu/accounting_allocator.hpp"
#include "runtime/device/cpu/core_wait.hpp"
#include "runtime/device/cpu/queue_threads.hpp"
#include "runtime/device/link.hpp"

#include <ATen/ops/full.h>
#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace hydra {

namespace {

void require(bool holds, const std::string& device, const char* what) {
  if (!holds) throw fault_error{fault_code::bad_input, fmt::format("virtual device {}: {}", device, what)};
}

/// Above it, time points overflow.
constexpr double slowest = 1e-6;
constexpr duration longest_latency = std::chrono::hours{1};

void validate(const std::string& name, const cpu_device& options) {
  require(options.memory > byte_count{}, name, "needs a memory budget, such as memory = \"24MiB\"");
  require(options.threads >= 1, name, "threads must be at least 1");
  require(options.speed >= slowest && options.speed <= 1, name, "speed must be at least 1e-6 and at most 1");
  require(options.latency >= duration::zero(), name, "latency must not be negative");
  require(options.latency <= longest_latency, name, "latency must be at most 1 h");
  require(options.link.per_second() >= 0, name, "link must not be negative (0 means not limited)");
}

device_info describe(std::string name, const cpu_device& options) {
  return {.name = std::move(name),
          .kind = "cpu",
          .speed = options.speed,
          .memory = options.memory,
          .reserve = {},
          .link = options.link,
          .latency = options.latency,
          .torch_device = "cpu",
          .numbers = options.numbers,
          .gradients = options.gradients};
}

/// Emulated sleeps are microseconds long: the default slack of the kernel's timers (50 us) would make a fast link slow.
void sleep_precisely() { prctl(PR_SET_TIMERSLACK, 1); }

/// LibTorch has a thread's further threads made by the thread's first large operation, all of them, and ends the
/// process where one is missing: at the begin, not in the middle of a run.
void begin_threads_of_operations() {
  constexpr std::int64_t large = 1 << 16;
  at::full({large}, 1, at::kByte);
}

fault run_and_catch(const std::function<void()>& work) {
  try {
    if (work) work();
    return {};
  } catch (...) {
    return to_fault(std::current_exception());
  }
}

struct job {
  ticket id;
  operation what;
  std::vector<ticket> after;
};

class virtual_device final : public device {
 public:
  virtual_device(device_info info, int threads);
  ~virtual_device() override;

  const device_info& info() const noexcept override { return info_; }
  void on_completion(completion_sink sink) override;
  ticket submit(queue_kind queue, operation op, std::span<const ticket> after) override;
  memory_usage memory() const noexcept override { return {account_.used(), account_.peak(), account_.limit()}; }
  bool stop(duration limit) noexcept override;

 private:
  explicit virtual_device(device_info info) : info_(std::move(info)) {}

  /// The next action of a queue's thread: run the job, or complete it with this fault without running it.
  struct task {
    job work;
    fault verdict;
  };

  // -- on any thread, with mutex_ held ---
  void wake_all();
  void wake_if_runnable(queue_kind queue);
  std::vector<ticket> still_of_interest(std::span<const ticket> after) const;
  bool may_leave_queue(const job& next) const;
  fault verdict_on(const job& next) const;

  // -- on the thread of a queue ---
  void serve(queue_kind queue, int threads);
  std::optional<task> take(queue_kind queue);
  completion run(queue_kind queue, task next, const std::optional<core_wait>& waits);
  void pace(queue_kind queue, byte_count bytes, time_point begin, duration waited) const;
  void report(const completion& done);

  const device_info info_;
  const emulated_link link_{info_.link, info_.latency};
  const memory_account account_{info_.memory};

  std::mutex mutex_;  // guards the members up to the threads; sink_ is constant once operations exist
  std::condition_variable idle_;
  std::array<std::condition_variable, queue_names.size()> runnable_;  // one for each queue: a wake-up costs time
  ticket_tracker tickets_;
  std::array<std::deque<job>, queue_names.size()> queues_;
  completion_sink sink_;
  bool stopped_ = false;
  bool closing_ = false;

  std::latch all_begun_{queue_names.size()};  ///< with the threads of operations
  std::array<std::thread, queue_names.size()> threads_;
};

virtual_device::virtual_device(device_info info, int threads) : virtual_device(std::move(info)) {
  const auto of_operations = static_cast<std::size_t>(threads - 1);
  require_threads(threads_.size() + of_operations, fmt::format("{} (threads = {})", info_.name, threads));
  for (const auto queue : all_queues) {
    const int own = queue == queue_kind::compute ? threads : 1;
    threads_[index_of(queue)] = start_thread(info_.name, [this, queue, own] { serve(queue, own); });
  }
  all_begun_.wait();
}

virtual_device::~virtual_device() {
  stop({});
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
    wake_all();
  }
  join_begun(threads_);
}

void virtual_device::on_completion(completion_sink sink) {
  const std::lock_guard lock{mutex_};
  if (sink_) throw fault_error{fault_code::internal, info_.name + " already has a receiver of completions"};
  sink_ = std::move(sink);
}

ticket virtual_device::submit(queue_kind queue, operation op, std::span<const ticket> after) {
  const std::lock_guard lock{mutex_};
  check_submission(info_.name, static_cast<bool>(sink_), tickets_, after);
  const ticket id = tickets_.issue();
  auto& waiting = queues_[index_of(queue)];
  waiting.push_back({id, std::move(op), still_of_interest(after)});
  if (waiting.size() == 1) wake_if_runnable(queue);
  return id;
}

bool virtual_device::stop(duration limit) noexcept {
  std::unique_lock lock{mutex_};
  stopped_ = true;
  wake_all();
  return idle_.wait_for(lock, limit, [this] { return tickets_.all_completed(); });
}

void virtual_device::wake_all() {
  for (auto& each : runnable_) each.notify_one();
}

void virtual_device::wake_if_runnable(queue_kind queue) {
  const auto& waiting = queues_[index_of(queue)];
  if (!waiting.empty() && may_leave_queue(waiting.front())) runnable_[index_of(queue)].notify_one();
}

std::vector<ticket> virtual_device::still_of_interest(std::span<const ticket> after) const {
  std::vector<ticket> open;
  std::ranges::copy_if(after, std::back_inserter(open),
                       [this](ticket t) { return !tickets_.completed(t) || tickets_.failed(t); });
  return open;
}

bool virtual_device::may_leave_queue(const job& next) const {
  return stopped_ || std::ranges::all_of(next.after, [this](ticket t) { return tickets_.completed(t); });
}

fault virtual_device::verdict_on(const job& next) const {
  if (stopped_) return not_run_stopped(next.what.label, info_.name);
  const auto failed = std::ranges::find_if(next.after, [this](ticket t) { return tickets_.failed(t); });
  return failed == next.after.end() ? fault{} : not_run_behind(next.what.label, info_.name, *failed);
}

void virtual_device::serve(queue_kind queue, int threads) {
  name_this_thread(info_.name, queue_names[index_of(queue)]);
  sleep_precisely();
  use_threads(threads);
  if (threads > 1) begin_threads_of_operations();
  all_begun_.count_down();
  const charge_to guard{account_};
  std::optional<core_wait> waits;
  if (queue == queue_kind::compute && info_.speed < 1) waits.emplace();
  while (auto next = take(queue)) report(run(queue, *std::move(next), waits));
}

std::optional<virtual_device::task> virtual_device::take(queue_kind queue) {
  auto& waiting = queues_[index_of(queue)];
  std::unique_lock lock{mutex_};
  runnable_[index_of(queue)].wait(lock, [&] { return waiting.empty() ? closing_ : may_leave_queue(waiting.front()); });
  if (waiting.empty()) return std::nullopt;
  job next = std::move(waiting.front());
  waiting.pop_front();
  auto verdict = verdict_on(next);
  return task{std::move(next), std::move(verdict)};
}

/// The closure is destroyed before its time is up and before its completion is posted: what it holds is then free for
/// others, and freeing it counts as part of the operation.
completion virtual_device::run(queue_kind queue, task next, const std::optional<core_wait>& waits) {
  completion done{next.work.id, steady_clock::now(), {}, std::move(next.verdict)};
  const auto waited_before = waits ? waits->so_far() : duration{};
  const bool runs = !done.error;
  if (runs) done.error = run_and_catch(next.work.what.work);
  next.work.what.work = nullptr;
  if (runs) pace(queue, next.work.what.bytes, done.begin, waits ? waits->so_far() - waited_before : duration{});
  done.end = steady_clock::now();
  return done;
}

/// Its work had the time since `begin`, but what it `waited` for a core.
void virtual_device::pace(queue_kind queue, byte_count bytes, time_point begin, duration waited) const {
  if (queue != queue_kind::compute) {
    std::this_thread::sleep_until(begin + link_.time_for(bytes));
  } else if (info_.speed < 1) {
    const duration since = steady_clock::now() - begin;
    const auto worked = std::clamp(since - waited, duration{}, since);
    std::this_thread::sleep_until(begin + from_seconds(seconds(worked) / info_.speed));
  }
}

/// The sink is called first, then queues that waited for it are woken: so completions arrive in causal order across
/// queues, too.
void virtual_device::report(const completion& done) {
  sink_(done);
  {
    const std::lock_guard lock{mutex_};
    tickets_.complete(done.operation, static_cast<bool>(done.error));
    for (const auto queue : all_queues) wake_if_runnable(queue);
    if (stopped_ && tickets_.all_completed()) idle_.notify_all();
  }
}

}  // namespace

std::unique_ptr<device> make_cpu_device(std::string name, const cpu_device& options) {
  validate(name, options);
  auto info = describe(std::move(name), options);
  return std::make_unique<virtual_device>(std::move(info), options.threads);
}

}  // namespace hydra
