#include "tests/support/host_streams.hpp"

#include "runtime/base/fault.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace hydra::test {

namespace {

/// Runs its jobs in order on one thread.
class host_stream {
 public:
  host_stream() : thread_([this] { serve(); }) {}
  ~host_stream() {
    enqueue(nullptr);
    thread_.join();
  }
  host_stream(const host_stream&) = delete;
  host_stream& operator=(const host_stream&) = delete;

  void enqueue(std::function<void()> work) {
    {
      const std::lock_guard lock{mutex_};
      line_.push_back(std::move(work));
    }
    changed_.notify_all();
  }

 private:
  void serve() {
    while (const auto work = next()) {
      work();
    }
  }
  std::function<void()> next() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !line_.empty(); });
    auto work = std::move(line_.front());
    line_.pop_front();
    return work;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> line_;
  std::thread thread_;
};

class host_event final : public stream_event {
 public:
  void happen() const {
    {
      const std::lock_guard lock{mutex_};
      happened_ = true;
    }
    changed_.notify_all();
  }
  void wait() const {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return happened_; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable bool happened_ = false;
};

thread_local std::function<void(std::function<void()>)> launcher;

class host_streams final : public stream_driver {
 public:
  explicit host_streams(host_stream_options options) : options_(std::move(options)) {}

  std::shared_ptr<void> serve(queue_kind queue) override {
    launcher = [this, queue](std::function<void()> kernel) { enqueue(queue, std::move(kernel)); };
    return {nullptr, [](void*) { launcher = nullptr; }};
  }
  void wait(queue_kind queue, const stream_event& event) override {
    work(queue).enqueue([e = shared(event)] { e->wait(); });
  }
  stream_event_ptr record(queue_kind queue) override {
    if (options_.records >= 0 && recorded_.fetch_add(1) >= options_.records) {
      throw fault_error(fault_code::device_lost, "the stand-in is broken");
    }
    auto event = std::make_shared<host_event>();
    enqueue(queue, [event] { event->happen(); });
    const std::lock_guard lock{mutex_};
    events_.push_back(event);
    return event;
  }
  void notify(queue_kind queue, const stream_event& event, std::function<void()> then) override {
    if (silent()) {
      return;
    }
    notices_[static_cast<std::size_t>(queue)].enqueue([e = shared(event), then = std::move(then)] {
      e->wait();
      then();
    });
  }
  void drain(queue_kind queue) override {
    const auto end = std::make_shared<host_event>();
    enqueue(queue, [end] { end->happen(); });
    end->wait();
  }
  fault look() noexcept override {
    return silent() ? fault{fault_code::device_lost, "the stand-in has failed"} : fault{};
  }
  std::unique_ptr<work_meter> measure() override { return make_host_meter(); }
  page_locker* locker() noexcept override { return nullptr; }

 private:
  bool silent() const noexcept { return options_.fails && *options_.fails; }
  host_stream& work(queue_kind queue) { return work_[static_cast<std::size_t>(queue)]; }

  void enqueue(queue_kind queue, std::function<void()> what) {
    work(queue).enqueue([this, queue, what = std::move(what)] {
      if (options_.before_work) {
        options_.before_work(queue);
      }
      what();
    });
  }

  /// The handle of an event that this driver has made.
  std::shared_ptr<const host_event> shared(const stream_event& event) {
    const std::lock_guard lock{mutex_};
    for (const auto& e : events_) {
      if (e.get() == &event) {
        return e;
      }
    }
    throw fault_error(fault_code::internal, "the event was not created by this driver");
  }

  host_stream_options options_;
  std::atomic<int> recorded_ = 0;
  std::mutex mutex_;
  std::deque<std::shared_ptr<const host_event>> events_;
  std::array<host_stream, 3> notices_;
  std::array<host_stream, 3> work_;
};

class charged_memory final : public launch_memory {
 public:
  explicit charged_memory(byte_count limit) : account_(limit) {}
  std::shared_ptr<void> launch(const launch_point&, std::function<void()>) override {
    return std::make_shared<charge_to>(account_);
  }
  void retire(const launch_point&) noexcept override {}
  void give_up() noexcept override {}
  memory_usage usage() const noexcept override { return {account_.used(), account_.peak(), account_.limit()}; }

 private:
  memory_account account_;
};

}  // namespace

std::unique_ptr<stream_driver> make_host_streams(host_stream_options options) {
  return std::make_unique<host_streams>(std::move(options));
}

void launch_kernel(std::function<void()> kernel) { launcher(std::move(kernel)); }

std::shared_ptr<launch_memory> make_charged_memory(byte_count limit) { return std::make_shared<charged_memory>(limit); }

}  // namespace hydra::test
