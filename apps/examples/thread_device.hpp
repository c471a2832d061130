#pragma once
// A device type written from runtime/device/device.hpp: a thread for each queue, an enforced budget, nothing emulated.
// tests/apps/examples/conformance.cpp runs the conformance suite on it.

#include "runtime/device/cpu/accounting_allocator.hpp"
#include "runtime/device/cpu/queue_threads.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/device_request.hpp"
#include "runtime/device/ticket_tracker.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

class thread_device final : public hydra::device {
 public:
  /// If a thread cannot be started, the destructor ends the others, because the delegated constructor has completed.
  thread_device(std::string name, hydra::byte_count memory) : thread_device{memory} {
    info_.name = std::move(name);
    info_.kind = "thread";
    info_.memory = memory;
    for (std::size_t q = 0; q < queues_.size(); ++q)
      threads_[q] = hydra::start_thread(info_.name, [this, q] { serve(queues_[q]); });
  }

  /// As a plug-in is asked for one.
  explicit thread_device(const hydra::device_request& r)
      : thread_device{r.name, hydra::get<hydra::byte_count>(r.options, "memory")} {}

  ~thread_device() override {
    stop({});
    set(closing_);
    hydra::join_begun(threads_);
  }

  const hydra::device_info& info() const noexcept override { return info_; }
  hydra::memory_usage memory() const noexcept override { return {account_.used(), account_.peak(), account_.limit()}; }

  void on_completion(hydra::completion_sink sink) override {
    const std::lock_guard lock{mutex_};
    sink_ = std::move(sink);
  }

  bool stop(hydra::duration limit) noexcept override {
    set(stopped_);
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, limit, [this] { return tickets_.all_completed(); });
  }

  hydra::ticket submit(hydra::queue_kind queue, hydra::operation op, std::span<const hydra::ticket> after) override {
    const std::lock_guard lock{mutex_};
    const auto foreign = [this](hydra::ticket t) { return !tickets_.knows(t); };
    if (!sink_ || std::ranges::any_of(after, foreign))
      throw hydra::fault_error{hydra::fault_code::internal,
                               info_.name + " has no receiver, or never issued a ticket named"};
    const hydra::ticket id = tickets_.issue();
    queues_.at(static_cast<std::size_t>(queue)).push_back({id, std::move(op.work), {after.begin(), after.end()}});
    changed_.notify_all();
    return id;
  }

 private:
  explicit thread_device(hydra::byte_count memory) : account_{memory} {}

  struct job {
    hydra::ticket id;
    std::function<void()> work;
    std::vector<hydra::ticket> after;
  };

  void set(bool& flag) noexcept {
    {
      const std::lock_guard lock{mutex_};
      flag = true;
    }
    changed_.notify_all();
  }

  /// The life of a queue's thread. What it allocates is charged to this device.
  void serve(std::deque<job>& queue) {
    at::get_num_threads();  // the first parallel operation would overwrite what is set before it
    at::set_num_threads(1);
    const hydra::charge_to guard{account_};
    while (auto next = take(queue)) {
      const hydra::completion done = run(std::move(next->first), std::move(next->second));
      sink_(done);
      const std::lock_guard lock{mutex_};
      tickets_.complete(done.operation, static_cast<bool>(done.error));
      changed_.notify_all();
    }
  }

  /// The front of the queue when all its tickets are done, with the fault that forbids to run it; nothing at the end.
  std::optional<std::pair<job, hydra::fault>> take(std::deque<job>& queue) {
    std::unique_lock lock{mutex_};
    const auto done = [this](hydra::ticket t) { return tickets_.completed(t); };
    changed_.wait(
        lock, [&] { return queue.empty() ? closing_ : stopped_ || std::ranges::all_of(queue.front().after, done); });
    if (queue.empty()) return std::nullopt;
    job next = std::move(queue.front());
    queue.pop_front();
    hydra::fault verdict = verdict_on(next);
    return std::pair{std::move(next), std::move(verdict)};
  }

  hydra::fault verdict_on(const job& next) const {
    if (stopped_) return {hydra::fault_code::cancelled, info_.name + " was stopped"};
    for (const hydra::ticket t : next.after)
      if (tickets_.failed(t))
        return {hydra::fault_code::dependency_failed, "waits for ticket " + std::to_string(t.value) + ", which failed"};
    return {};
  }

  /// The closure is gone before the completion is posted.
  static hydra::completion run(job next, hydra::fault verdict) {
    hydra::completion done{next.id, hydra::steady_clock::now(), {}, std::move(verdict)};
    try {
      if (!done.error && next.work) next.work();
    } catch (...) {
      done.error = hydra::to_fault(std::current_exception());
    }
    next.work = nullptr;
    done.end = hydra::steady_clock::now();
    return done;
  }

  hydra::device_info info_;
  const hydra::memory_account account_;

  std::mutex mutex_;
  std::condition_variable changed_;
  hydra::ticket_tracker tickets_;
  std::array<std::deque<job>, 3> queues_;  // compute, h2d, d2h
  hydra::completion_sink sink_;
  bool stopped_ = false, closing_ = false;

  std::array<std::thread, 3> threads_;
};
