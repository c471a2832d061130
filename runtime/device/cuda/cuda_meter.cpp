#include "runtime/device/cuda/cuda_meter.hpp"

#include "runtime/device/cpu/accounting_allocator.hpp"
#include "runtime/device/cuda/cuda_allocator.hpp"
#include "runtime/device/cuda/cuda_check.hpp"

#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace hydra {

namespace {

/// Counts each block that it passes on, with its charged size.
class counting_pool final : public tensor_pool {
 public:
  /// A device that measures during a run uses the thread's pool only.
  counting_pool(std::shared_ptr<tensor_pool> own, device_use use)
      : first_(use == device_use::run ? own : nullptr),
        then_(use == device_use::run || !own ? library_pool() : std::move(own)) {}

  c10::DeviceType device_type() const noexcept override { return c10::kCUDA; }
  void* allocate(std::size_t n) override {
    void* p = first_ ? first_->try_allocate(n) : nullptr;
    const auto& from = p ? first_ : then_;
    p = p ? p : then_->allocate(n);
    count(p, from, n);
    return p;
  }

  void release(void* p) noexcept override {
    std::shared_ptr<tensor_pool> from;
    {
      const std::lock_guard lock{mutex_};
      auto found = blocks_.extract(p);
      from = std::move(found.mapped().from);
      used_ = byte_count{used_.value() - found.mapped().bytes.value()};
    }
    from->release(p);
  }

  byte_count used() const noexcept {
    const std::lock_guard lock{mutex_};
    return used_;
  }
  byte_count peak() const noexcept {
    const std::lock_guard lock{mutex_};
    return peak_;
  }
  void reset_peak() noexcept {
    const std::lock_guard lock{mutex_};
    peak_ = used_;
  }

 private:
  struct block {
    std::shared_ptr<tensor_pool> from;
    byte_count bytes;
  };

  void count(void* p, const std::shared_ptr<tensor_pool>& from, std::size_t n) {
    const std::lock_guard lock{mutex_};
    const auto bytes = charged_bytes(byte_count{n});
    blocks_.insert_or_assign(p, block{from, bytes});
    used_ += bytes;
    peak_ = std::max(peak_, used_);
  }

  std::shared_ptr<tensor_pool> first_;
  std::shared_ptr<tensor_pool> then_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, block> blocks_;
  byte_count used_;
  byte_count peak_;
};

class timing_event {
 public:
  timing_event() { cuda_check(cudaEventCreate(&event_), "an event cannot be made"); }
  ~timing_event() { cuda_ignore(cudaEventDestroy(event_)); }
  timing_event(const timing_event&) = delete;
  timing_event& operator=(const timing_event&) = delete;

  void record(cudaStream_t stream) { cuda_check(cudaEventRecord(event_, stream), "an event cannot be recorded"); }
  void wait() { cuda_check(cudaEventSynchronize(event_), "measured work has failed"); }
  duration since(const timing_event& earlier) const {
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "two events cannot be compared");
    return from_seconds(static_cast<double>(milliseconds) / 1000);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

class cuda_meter final : public work_meter {
 public:
  explicit cuda_meter(device_use use) : pool_(std::make_shared<counting_pool>(current_pool(c10::kCUDA), use)) {
    first_.record(stream_);
    first_.wait();
    began_ = steady_clock::now();
  }

  time_point now() override {
    timing_event last;
    last.record(stream_);
    last.wait();
    return began_ + last.since(first_);
  }
  byte_count used() const noexcept override { return pool_->used(); }
  byte_count peak() const noexcept override { return pool_->peak(); }
  void reset_peak() noexcept override { pool_->reset_peak(); }

 private:
  const cudaStream_t stream_ = c10::cuda::getCurrentCUDAStream().stream();
  timing_event first_;
  time_point began_;
  const std::shared_ptr<counting_pool> pool_;
  const allocate_from counted_{pool_};
};

}  // namespace

std::unique_ptr<work_meter> make_cuda_meter(device_use use) { return std::make_unique<cuda_meter>(use); }

}  // namespace hydra
