#include "runtime/streams/stream_device.hpp"

#include "runtime/ticket_book.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace hydra {

namespace {

constexpr std::array all_queues{queue_kind::compute, queue_kind::h2d, queue_kind::d2h};
constexpr std::array queue_names{"compute", "h2d", "d2h"};

constexpr std::size_t index_of(queue_kind queue) { return static_cast<std::size_t>(queue); }

void name_thread(const std::string& device, const char* what) {
  const auto name = fmt::format("{} {}", device, what);
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());  // 15 is the kernel's limit
}

/// From its submission to its completion.
struct flight {
  ticket id;
  queue_kind queue = queue_kind::compute;
  operation what;
  std::vector<ticket> after;
  std::vector<std::shared_ptr<const flight>> causes;   ///< those of `after` that were under way when it was launched
  stream_event_ptr end_of_work;                        ///< null until it is launched, or if the driver failed
  bool told = true;                                    ///< somebody hears of its completion
  bool launched = false;
  bool done = false;                                   ///< the driver says so
  fault error;
  time_point begin;                                    ///< of its launch, then of its work
  time_point end;
};
using flight_ptr = std::shared_ptr<flight>;

std::string name_of(const flight& f) {
  return fmt::format("{}{}{}", *f.what.label.name ? f.what.label.name : "operation",
                     f.what.label.detail.empty() ? "" : " of ", f.what.label.detail);
}

class stream_device final : public device {
 public:
  stream_device(device_info info, std::unique_ptr<stream_driver> driver, std::shared_ptr<launch_memory> memory);
  ~stream_device() override;

  const device_info& info() const noexcept override { return info_; }
  void on_completion(completion_sink sink) override;
  ticket submit(queue_kind queue, operation op, std::span<const ticket> after) override;
  memory_usage memory() const noexcept override { return memory_->usage(); }
  std::unique_ptr<work_meter> measure() override { return driver_->measure(); }
  page_locker* locker() noexcept override { return driver_->locker(); }
  bool stop(duration limit) noexcept override;

 private:
  void prepare();

  // -- with mutex_ held ---
  void check(std::span<const ticket> after) const;
  flight& enqueue(queue_kind queue, operation op, std::span<const ticket> after);
  bool may_launch(const flight& f) const;
  fault verdict_on(const flight& f) const;
  flight_ptr next_retired() const;
  void lose_all(const fault& why);

  // -- on the thread of a queue ---
  void serve(queue_kind queue);
  flight_ptr take(queue_kind queue);
  void launch(flight& f);
  void wait_for_causes(const flight& f);
  fault run(flight& f);
  void await(const flight_ptr& f);

  // -- on a thread of the driver ---
  void post(const flight_ptr& f);

  // -- on the thread that retires ---
  void retire_all();
  void retire(flight& f);

  const device_info info_;
  std::unique_ptr<stream_driver> driver_;
  const std::shared_ptr<launch_memory> memory_;

  std::mutex mutex_;  // guards the members up to the threads; sink_ is constant once operations exist
  std::condition_variable changed_;
  ticket_book tickets_;
  std::array<std::deque<flight_ptr>, queue_names.size()> waiting_;   ///< to be launched
  std::map<ticket, flight_ptr> flights_;                             ///< submitted and not retired
  std::array<time_point, queue_names.size()> last_end_{};
  completion_sink sink_;
  bool stopped_ = false;
  bool closing_ = false;

  std::array<std::thread, queue_names.size()> launchers_;
  std::thread retirer_;
};

stream_device::stream_device(device_info info, std::unique_ptr<stream_driver> driver, std::shared_ptr<launch_memory> memory)
    : info_(std::move(info)), driver_(std::move(driver)), memory_(std::move(memory)) {
  for (const auto queue : all_queues) {
    launchers_[index_of(queue)] = std::thread{[this, queue] { serve(queue); }};
  }
  retirer_ = std::thread{[this] { retire_all(); }};
  prepare();
}

/// So that what the driver keeps for itself is counted before the first block.
void stream_device::prepare() {
  constexpr auto limit = std::chrono::minutes(1);
  operation op;
  op.work = [this] { driver_->prepare(); };
  std::unique_lock lock{mutex_};
  enqueue(queue_kind::compute, std::move(op), {}).told = false;
  changed_.wait_for(lock, limit, [this] { return tickets_.all_completed(); });
}

stream_device::~stream_device() {
  stop({});
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
  }
  changed_.notify_all();
  for (auto& thread : launchers_) {
    thread.join();
  }
  retirer_.join();
  driver_.reset();  // notices that a broken driver gives late still find this object
}

// -- on any thread --------------------------------------------------------------------------------------------------------

void stream_device::on_completion(completion_sink sink) {
  const std::lock_guard lock{mutex_};
  if (sink_) {
    throw fault_error(fault_code::internal, info_.name + " already has a receiver of completions");
  }
  sink_ = std::move(sink);
}

ticket stream_device::submit(queue_kind queue, operation op, std::span<const ticket> after) {
  const std::lock_guard lock{mutex_};
  check(after);
  return enqueue(queue, std::move(op), after).id;
}

flight& stream_device::enqueue(queue_kind queue, operation op, std::span<const ticket> after) {
  auto f = std::make_shared<flight>();
  f->id = tickets_.issue();
  f->queue = queue;
  f->what = std::move(op);
  f->after.assign(after.begin(), after.end());
  flights_.emplace(f->id, f);
  waiting_[index_of(queue)].push_back(f);
  changed_.notify_all();
  return *f;
}

bool stream_device::stop(duration limit) noexcept {
  memory_->give_up();
  std::unique_lock lock{mutex_};
  stopped_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, limit, [this] { return tickets_.all_completed(); });
}

void stream_device::check(std::span<const ticket> after) const {
  if (!sink_) {
    throw fault_error(fault_code::internal, info_.name + " has no receiver of completions yet");
  }
  for (const ticket t : after) {
    if (!tickets_.knows(t)) {
      throw fault_error(fault_code::internal, fmt::format("ticket {} is none of {}", t.value, info_.name));
    }
  }
}

// -- on the thread of a queue ---------------------------------------------------------------------------------------------

void stream_device::serve(queue_kind queue) {
  name_thread(info_.name, queue_names[index_of(queue)]);
  at::get_num_threads();  // else the first parallel operation would overwrite what is set before it
  at::set_num_threads(1);
  const auto scope = driver_->serve(queue);
  while (const auto f = take(queue)) {
    launch(*f);
    await(f);
  }
}

bool stream_device::may_launch(const flight& f) const {
  return stopped_ || std::ranges::all_of(f.after, [this](ticket t) {
           const auto cause = flights_.find(t);
           return cause == flights_.end() || cause->second->launched;
         });
}

fault stream_device::verdict_on(const flight& f) const {
  if (stopped_) {
    return {fault_code::cancelled, fmt::format("{} did not run: {} was stopped", name_of(f), info_.name)};
  }
  const auto failed = std::ranges::find_if(f.after, [this](ticket t) {
    const auto cause = flights_.find(t);
    return cause == flights_.end() ? tickets_.failed(t) : static_cast<bool>(cause->second->error);
  });
  if (failed == f.after.end()) {
    return {};
  }
  return {fault_code::dependency_failed,
          fmt::format("{} did not run on {}: it waits for ticket {}, which failed", name_of(f), info_.name, failed->value)};
}

flight_ptr stream_device::take(queue_kind queue) {
  auto& line = waiting_[index_of(queue)];
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return line.empty() ? closing_ : may_launch(*line.front()); });
  if (line.empty()) {
    return nullptr;
  }
  auto f = std::move(line.front());
  line.pop_front();
  f->error = verdict_on(*f);
  for (const ticket t : f->after) {
    if (const auto cause = flights_.find(t); cause != flights_.end()) {
      f->causes.push_back(cause->second);
    }
  }
  return f;
}

/// Nobody else changes a flight between take() and `launched`; `error` and `end_of_work` are read only after that.
void stream_device::launch(flight& f) {
  f.begin = steady_clock::now();
  auto error = run(f);
  const std::lock_guard lock{mutex_};
  f.error = std::move(error);
  f.launched = true;
  if (f.error.code == fault_code::device_lost) {
    lose_all(f.error);
  }
  changed_.notify_all();
}

/// A driver that is broken for good calls nobody any more.
void stream_device::lose_all(const fault& why) {
  for (const auto& [id, f] : flights_) {
    if (f->launched && !f->done) {
      f->error = f->error ? f->error : why;
      f->end = steady_clock::now();
      f->done = true;
    }
  }
}

/// An exception of the closure leaves what it has launched before; the event comes behind that.
fault stream_device::run(flight& f) {
  const auto scope = memory_->launch({f.queue, f.id});
  fault error = f.error;
  try {
    if (!error) {
      wait_for_causes(f);
      if (f.what.work) {
        f.what.work();
      }
    }
  } catch (...) {
    error = to_fault(std::current_exception());
  }
  try {
    f.end_of_work = driver_->record(f.queue);
  } catch (...) {
    error = to_fault(std::current_exception());
  }
  return error;
}

/// The queue's own order is that of its stream.
void stream_device::wait_for_causes(const flight& f) {
  for (const auto& cause : f.causes) {
    if (cause->queue != f.queue && cause->end_of_work) {
      driver_->wait(f.queue, *cause->end_of_work);
    }
  }
}

void stream_device::await(const flight_ptr& f) {
  try {
    if (f->end_of_work) {
      driver_->notify(f->queue, *f->end_of_work, [this, f] { post(f); });
      return;
    }
  } catch (...) {
    const std::lock_guard lock{mutex_};
    f->error = to_fault(std::current_exception());
  }
  post(f);
}

// -- on a thread of the driver --------------------------------------------------------------------------------------------

void stream_device::post(const flight_ptr& f) {
  {
    const std::lock_guard lock{mutex_};
    if (!std::exchange(f->done, true)) {
      f->end = steady_clock::now();
    }
  }
  changed_.notify_all();
}

// -- on the thread that retires -------------------------------------------------------------------------------------------

/// The first flight of a queue is retired before the second, and a cause before its effect: events tell the device of it
/// before the driver tells us.
flight_ptr stream_device::next_retired() const {
  std::array<bool, queue_names.size()> seen{};
  for (const auto& [id, f] : flights_) {
    const bool first = !std::exchange(seen[index_of(f->queue)], true);
    const bool last_cause = std::ranges::none_of(f->after, [this](ticket t) { return flights_.contains(t); });
    if (first && f->done && last_cause) {
      return f;
    }
  }
  return nullptr;
}

void stream_device::retire_all() {
  name_thread(info_.name, "done");
  std::unique_lock lock{mutex_};
  for (;;) {
    flight_ptr f;
    changed_.wait(lock, [&] { return (f = next_retired()) || (closing_ && flights_.empty()); });
    if (!f) {
      return;
    }
    lock.unlock();
    retire(*f);
    lock.lock();
  }
}

void stream_device::retire(flight& f) {
  completion done{f.id, f.begin, f.end, f.error};
  for (const auto& cause : f.causes) {
    done.begin = std::max(done.begin, cause->end);
    if (cause->error && !done.error) {
      done.error = {fault_code::dependency_failed,
                    fmt::format("{} on {}: ticket {}, for which it waited, failed", name_of(f), info_.name, cause->id.value)};
    }
  }
  auto& previous = last_end_[index_of(f.queue)];
  done.begin = std::max(done.begin, previous);
  done.end = previous = std::max(done.begin, done.end);
  f.end = done.end;
  f.causes.clear();
  f.what.work = nullptr;
  f.end_of_work = nullptr;
  memory_->retire({f.queue, f.id});
  if (f.told) {
    sink_(done);
  }
  {
    const std::lock_guard lock{mutex_};
    f.error = done.error;
    tickets_.complete(f.id, static_cast<bool>(done.error));
    flights_.erase(f.id);
  }
  changed_.notify_all();
}

}  // namespace

std::unique_ptr<device> make_stream_device(device_info info, std::unique_ptr<stream_driver> driver,
                                           std::shared_ptr<launch_memory> memory) {
  return std::make_unique<stream_device>(std::move(info), std::move(driver), std::move(memory));
}

}  // namespace hydra
