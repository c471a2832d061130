#include "apps/bench/recording_device.hpp"

#include <cstdlib>
#include <new>
#include <utility>

namespace hydra::apps {

namespace {

thread_local queue_kind here = queue_kind::compute;

/// Heap memory; records allocations and frees in the trace.
class recording_pool final : public tensor_pool {
 public:
  explicit recording_pool(std::shared_ptr<allocation_trace> trace) : trace_(std::move(trace)) {}

  c10::DeviceType device_type() const noexcept override { return c10::kCPU; }
  void* allocate(std::size_t n) override {
    void* const p = std::aligned_alloc(64, round_up(byte_count{n}, 64).value());
    if (p == nullptr) throw std::bad_alloc{};
    trace_->allocated(p, byte_count{n});
    return p;
  }
  void release(void* p) noexcept override {
    trace_->freed(p);
    std::free(p);
  }

 private:
  std::shared_ptr<allocation_trace> trace_;
};

class recording_device final : public device {
 public:
  recording_device(std::unique_ptr<device> inside, std::shared_ptr<allocation_trace> trace)
      : inside_(std::move(inside)), pool_(std::make_shared<recording_pool>(std::move(trace))) {}

  const device_info& info() const noexcept override { return inside_->info(); }
  void on_completion(completion_sink sink) override { inside_->on_completion(std::move(sink)); }
  memory_usage memory() const noexcept override { return inside_->memory(); }
  bool stop(duration limit) noexcept override { return inside_->stop(limit); }

  ticket submit(queue_kind queue, operation op, std::span<const ticket> after) override {
    op.work = [queue, pool = pool_, work = std::move(op.work)] {
      const allocate_from scope{pool};
      allocation_trace::run_on(queue);
      if (work) work();
    };
    return inside_->submit(queue, std::move(op), after);
  }

 private:
  std::unique_ptr<device> inside_;
  std::shared_ptr<tensor_pool> pool_;
};

}  // namespace

void allocation_trace::run_on(queue_kind queue) noexcept { here = queue; }

void allocation_trace::allocated(const void* p, byte_count n) {
  const std::lock_guard lock{mutex_};
  blocks_[p] = events_.size();
  events_.push_back({events_.size(), n, here});
}

void allocation_trace::freed(const void* p) {
  const std::lock_guard lock{mutex_};
  const auto block = blocks_.extract(p);
  if (block) events_.push_back({block.mapped(), {}, here});
}

std::vector<allocation_trace::event> allocation_trace::events() const {
  const std::lock_guard lock{mutex_};
  return events_;
}

std::unique_ptr<device> make_recording_device(std::string name, const cpu_device& options,
                                              std::shared_ptr<allocation_trace> trace) {
  return std::make_unique<recording_device>(make_cpu_device(std::move(name), options), std::move(trace));
}

}  // namespace hydra::apps
