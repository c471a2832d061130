#include "runtime/device/streams/stream_device.hpp"

#include "runtime/base/thread_supply.hpp"
#include "runtime/device/cpu/queue_threads.hpp"
#include "runtime/device/streams/stream_flight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace hydra {

namespace {

constexpr duration prepare_limit = std::chrono::minutes(5);

/// A device that has failed may not notify anyone: its error state is polled so often while work is in progress.
constexpr duration look_every = std::chrono::seconds(1);

class stream_device final : public device {
 public:
  stream_device(device_info info, std::unique_ptr<stream_driver> driver, std::shared_ptr<launch_memory> memory);
  ~stream_device() override;

  const device_info& info() const noexcept override { return info_; }
  void on_completion(completion_sink sink) override;
  ticket submit(queue_kind queue, operation op, std::span<const ticket> after) override;
  memory_usage memory() const noexcept override { return memory_->usage(); }
  std::optional<energy_reading> energy() const override { return driver_->energy(); }
  std::unique_ptr<work_meter> measure() override { return driver_->measure(); }
  page_locker* locker() noexcept override { return driver_->locker(); }
  bool stop(duration limit) noexcept override;

  /// Makes the driver allocate its own memory before the first block. Called before on_completion.
  fault prepare();

 private:
  struct without_threads {};
  stream_device(without_threads, device_info info, std::unique_ptr<stream_driver> driver,
                std::shared_ptr<launch_memory> memory);

  // -- with mutex_ held ---
  flight_ptr enqueue(queue_kind queue, operation op, std::span<const ticket> after);
  bool may_launch(const stream_flight& f) const;
  fault verdict_on(const stream_flight& f) const;
  flight_ptr next_retired() const;
  void lose_all(const fault& why);

  // -- on the thread of a queue ---
  void serve(queue_kind queue);
  std::shared_ptr<void> scope_of(queue_kind queue);
  flight_ptr take(queue_kind queue);
  struct launched_work {
    fault error;
    stream_event_ptr end;
  };
  void launch(const flight_ptr& f);
  launched_work run(stream_flight& f);
  fault ended_without_event(queue_kind queue, const fault& why);
  fault failure_of(const stream_flight& f, const std::exception_ptr& thrown) const;
  void notify_at_end(const flight_ptr& f, const stream_event_ptr& end);

  // -- on a thread of the driver ---
  void post(const flight_ptr& f);

  // -- on the thread that retires ---
  void retire_all();
  void look(std::unique_lock<std::mutex>& lock);
  void retire(stream_flight& f);

  const device_info info_;
  std::unique_ptr<stream_driver> driver_;
  const std::shared_ptr<launch_memory> memory_;

  std::mutex mutex_;  // guards the members up to the threads; sink_ is constant once operations exist
  std::condition_variable changed_;
  ticket_tracker tickets_;
  std::array<std::deque<flight_ptr>, queue_names.size()> waiting_;   ///< to be launched
  std::map<ticket, flight_ptr> flights_;                             ///< submitted and not retired
  std::array<time_point, queue_names.size()> last_end_{};
  completion_sink sink_;
  fault lost_;              ///< why nothing can run any more; none: the device works
  bool stopped_ = false;
  bool closing_ = false;

  std::array<std::thread, queue_names.size()> launchers_;
  std::thread retirer_;
};

stream_device::stream_device(without_threads, device_info info, std::unique_ptr<stream_driver> driver,
                             std::shared_ptr<launch_memory> memory)
    : info_(std::move(info)), driver_(std::move(driver)), memory_(std::move(memory)) {}

stream_device::stream_device(device_info info, std::unique_ptr<stream_driver> driver,
                             std::shared_ptr<launch_memory> memory)
    : stream_device({}, std::move(info), std::move(driver), std::move(memory)) {
  require_threads(launchers_.size() + 1, info_.name);
  for (const auto queue : all_queues) {
    launchers_[index_of(queue)] = start_thread(info_.name, [this, queue] { serve(queue); });
  }
  retirer_ = start_thread(info_.name, [this] { retire_all(); });
}

fault stream_device::prepare() {
  operation op;
  op.work = [this] { driver_->prepare(); };
  op.label.name = "the first work";
  std::unique_lock lock{mutex_};
  const auto f = enqueue(queue_kind::compute, std::move(op), {});
  f->reported = false;
  if (!changed_.wait_for(lock, prepare_limit, [this] { return tickets_.all_completed(); })) {
    return {fault_code::device_lost,
            fmt::format("{} did not finish its first work within {}", info_.name, to_string(prepare_limit))};
  }
  return f->error;
}

stream_device::~stream_device() {
  stop({});
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
  }
  changed_.notify_all();
  join_begun(launchers_);
  join_begun({&retirer_, 1});
  driver_.reset();  // late notifications of a broken driver still find this object
}

// -- on any thread ----------------------------------------------------------------------------------------------------

void stream_device::on_completion(completion_sink sink) {
  const std::lock_guard lock{mutex_};
  if (sink_) {
    throw fault_error(fault_code::internal, info_.name + " already has a receiver of completions");
  }
  sink_ = std::move(sink);
}

ticket stream_device::submit(queue_kind queue, operation op, std::span<const ticket> after) {
  const std::lock_guard lock{mutex_};
  check_submission(info_.name, static_cast<bool>(sink_), tickets_, after);
  return enqueue(queue, std::move(op), after)->id;
}

flight_ptr stream_device::enqueue(queue_kind queue, operation op, std::span<const ticket> after) {
  auto f = std::make_shared<stream_flight>();
  f->id = tickets_.issue();
  f->queue = queue;
  f->what = std::move(op);
  f->after.assign(after.begin(), after.end());
  flights_.emplace(f->id, f);
  waiting_[index_of(queue)].push_back(f);
  changed_.notify_all();
  return f;
}

bool stream_device::stop(duration limit) noexcept {
  memory_->give_up();
  std::unique_lock lock{mutex_};
  stopped_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, limit, [this] { return tickets_.all_completed(); });
}

// -- on the thread of a queue -----------------------------------------------------------------------------------------

void stream_device::serve(queue_kind queue) {
  name_this_thread(info_.name, queue_names[index_of(queue)]);
  use_threads(1);
  const auto scope = scope_of(queue);
  while (const auto f = take(queue)) {
    launch(f);
  }
}

/// Without it nothing can be launched: the device is lost.
std::shared_ptr<void> stream_device::scope_of(queue_kind queue) {
  try {
    return driver_->serve(queue);
  } catch (...) {
    const auto why = driver_->explain(std::current_exception());
    const std::lock_guard lock{mutex_};
    lose_all({why.code, fmt::format("a thread of {} cannot launch: {}", info_.name, why.text)});
    return nullptr;
  }
}

bool stream_device::may_launch(const stream_flight& f) const {
  return stopped_ || std::ranges::all_of(f.after, [this](ticket t) {
           const auto cause = flights_.find(t);
           return cause == flights_.end() || cause->second->launched;
         });
}

fault stream_device::verdict_on(const stream_flight& f) const {
  if (stopped_) {
    return not_run_stopped(f.what.label, info_.name);
  }
  if (lost_) {
    return lost_;
  }
  const auto failed = std::ranges::find_if(f.after, [this](ticket t) {
    const auto cause = flights_.find(t);
    return cause == flights_.end() ? tickets_.failed(t) : static_cast<bool>(cause->second->error);
  });
  return failed == f.after.end() ? fault{} : not_run_behind(f.what.label, info_.name, *failed);
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
    const auto cause = flights_.find(t);
    if (cause == flights_.end()) {
      continue;
    }
    f->causes.push_back(cause->second);
    if (cause->second->queue != queue && cause->second->end_of_work) {
      f->waits.push_back(cause->second->end_of_work);  // the queue's own operations are ordered by its stream
    }
  }
  return f;
}

void stream_device::launch(const flight_ptr& f) {
  f->begin = steady_clock::now();
  auto work = run(*f);
  {
    const std::lock_guard lock{mutex_};
    f->error = work.error;
    f->end_of_work = work.end;
    f->launched = true;
    if (f->error.code == fault_code::device_lost) {
      lose_all(f->error);
    }
  }
  changed_.notify_all();
  notify_at_end(f, work.end);
}

/// If the closure throws, what it launched before still runs; the event is recorded after that.
stream_device::launched_work stream_device::run(stream_flight& f) {
  const auto scope = memory_->launch({f.queue, f.id}, [this, queue = f.queue] { driver_->drain(queue); });
  launched_work work{f.error, nullptr};
  try {
    if (!work.error) {
      for (const auto& end : f.waits) {
        driver_->wait(f.queue, *end);
      }
      if (f.what.work) {
        f.what.work();
      }
    }
  } catch (...) {
    work.error = failure_of(f, std::current_exception());
  }
  f.waits.clear();
  try {
    work.end = driver_->record(f.queue);
  } catch (...) {
    if (const auto why = ended_without_event(f.queue, failure_of(f, std::current_exception()))) {
      work.error = {why.code, work.error ? work.error.text : why.text};  // the first error says most
    }
  }
  return work;
}

fault stream_device::failure_of(const stream_flight& f, const std::exception_ptr& thrown) const {
  auto why = driver_->explain(thrown);
  why.text = fmt::format("{} on {}: {}", name_of(f.what.label), info_.name, why.text);
  return why;
}

/// Without an event nobody is notified when bytes are free, and no other queue waits: the work must end here. Then
/// nothing was lost by `why`, unless the driver says that nothing can run any more. A device that cannot be waited for
/// is assumed to use no bytes any more.
fault stream_device::ended_without_event(queue_kind queue, const fault& why) {
  try {
    driver_->drain(queue);
    return why.code == fault_code::device_lost ? why : fault{};
  } catch (...) {
    return {fault_code::device_lost, why.text};
  }
}

void stream_device::notify_at_end(const flight_ptr& f, const stream_event_ptr& end) {
  try {
    if (end) {
      driver_->notify(f->queue, *end, [this, f] { post(f); });
      return;
    }
  } catch (...) {
    const auto why = failure_of(*f, std::current_exception());
    const std::lock_guard lock{mutex_};
    lose_all(why);  // fails all flights, including this one, unless another thread has done so before
  }
  post(f);
}

/// A driver that has failed for good calls back no more; operations that are not launched yet are not tried. Flights
/// that are done are left alone: the thread that retires reads them without the lock.
void stream_device::lose_all(const fault& why) {
  lost_ = {fault_code::device_lost, why.text};
  for (const auto& [id, f] : flights_) {
    if (f->launched && !f->done) {
      f->error = f->error ? f->error : lost_;
      f->end = steady_clock::now();
      f->done = true;
    }
  }
}

// -- on a thread of the driver ----------------------------------------------------------------------------------------

void stream_device::post(const flight_ptr& f) {
  {
    const std::lock_guard lock{mutex_};
    if (!std::exchange(f->done, true)) {
      f->end = steady_clock::now();
    }
  }
  changed_.notify_all();
}

// -- on the thread that retires ---------------------------------------------------------------------------------------

/// A queue's flights are retired in order, and a cause before its effect: the device learns of it by events before the
/// driver notifies us.
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
  name_this_thread(info_.name, "done");
  const auto scope = driver_->serve(queue_kind::d2h);  // events are destroyed on this thread, too
  std::unique_lock lock{mutex_};
  for (;;) {
    flight_ptr f;
    const auto ready = [&] { return (f = next_retired()) || (closing_ && flights_.empty()); };
    if (!changed_.wait_for(lock, look_every, ready)) {
      look(lock);
    } else if (!f) {
      return;
    } else {
      lock.unlock();
      retire(*f);
      lock.lock();
    }
  }
}

void stream_device::look(std::unique_lock<std::mutex>& lock) {
  if (flights_.empty() || lost_) {
    return;
  }
  lock.unlock();
  auto found = driver_->look();
  lock.lock();
  if (found) {
    found.text = fmt::format("{}: {}", info_.name, found.text);
    lose_all(found);
  }
}

void stream_device::retire(stream_flight& f) {
  completion done{f.id, f.begin, f.end, f.error};
  for (const auto& cause : f.causes) {
    done.begin = std::max(done.begin, cause->end);
    if (cause->error && !done.error) {
      done.error = {fault_code::dependency_failed, fmt::format("{} on {}: ticket {}, for which it waited, failed",
                                                               name_of(f.what.label), info_.name, cause->id.value)};
    }
  }
  auto& previous = last_end_[index_of(f.queue)];
  done.begin = std::max(done.begin, previous);
  done.end = previous = std::max(done.begin, done.end);
  f.end = done.end;
  f.causes.clear();
  f.what.work = nullptr;
  memory_->retire({f.queue, f.id});
  if (f.reported) {
    sink_(done);
  }
  stream_event_ptr last;  // destroyed without the lock
  {
    const std::lock_guard lock{mutex_};
    f.error = done.error;
    last = std::move(f.end_of_work);
    tickets_.complete(f.id, static_cast<bool>(done.error));
    flights_.erase(f.id);
  }
  changed_.notify_all();
}

}  // namespace

std::unique_ptr<device> make_stream_device(device_info info, std::unique_ptr<stream_driver> driver,
                                           std::shared_ptr<launch_memory> memory) {
  auto made = std::make_unique<stream_device>(std::move(info), std::move(driver), std::move(memory));
  if (auto why = made->prepare()) {
    if (!made->stop(look_every)) {
      static_cast<void>(made.release());  // its threads still use it
    }
    throw fault_error(std::move(why));
  }
  return made;
}

}  // namespace hydra
