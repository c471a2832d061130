#include "runtime/device/cuda/cuda_driver.hpp"

#include "runtime/device/cuda/cuda_check.hpp"
#include "runtime/device/cuda/cuda_locker.hpp"
#include "runtime/device/cuda/cuda_meter.hpp"
#include "runtime/device/cuda/cuda_numerics.hpp"
#include "runtime/device/cuda/gpu.hpp"
#include "runtime/device/cuda/management_library.hpp"

#include <c10/core/AutogradState.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace hydra {

namespace {

constexpr std::size_t queues = 3;

class cuda_event final : public stream_event {
 public:
  explicit cuda_event(cudaStream_t stream) {
    cudaEvent_t made = nullptr;
    cuda_check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "an event cannot be made");
    event_.reset(made);
    cuda_check(cudaEventRecord(made, stream), "an event cannot be recorded");
  }

  /// If the stream cannot wait for it, the caller does, who launches on the stream.
  void hold_up(cudaStream_t stream) const {
    const auto e = cudaStreamWaitEvent(stream, event_.get(), 0);
    if (e != cudaSuccess) {
      cuda_ignore(e);
      wait();
    }
  }
  void wait() const { cuda_check(cudaEventSynchronize(event_.get()), "work that was launched has failed"); }

 private:
  struct destroyer {
    void operator()(cudaEvent_t e) const noexcept { cuda_ignore(cudaEventDestroy(e)); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, destroyer> event_;
};

class owned_stream {
 public:
  owned_stream() {
    cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream cannot be made");
  }
  ~owned_stream() { cuda_ignore(cudaStreamDestroy(stream_)); }
  owned_stream(const owned_stream&) = delete;
  owned_stream& operator=(const owned_stream&) = delete;

  cudaStream_t get() const noexcept { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Created on the current GPU.
struct gpu_streams {
  std::array<owned_stream, queues> work;
  std::array<owned_stream, queues> notices;
};

/// LibTorch keeps a workspace for each stream as long as the process runs. Therefore streams are reused: a session
/// creates its devices twice, and models that join a run create devices for their pilot.
class stream_store {
 public:
  std::shared_ptr<gpu_streams> borrow(int gpu) {
    const std::lock_guard lock{mutex_};
    auto& free = free_[gpu];
    auto* const streams = free.empty() ? make(gpu) : free.back();
    if (!free.empty()) {
      free.pop_back();
    }
    return {streams, [this, gpu](gpu_streams* s) { give_back(gpu, s); }};
  }

 private:
  static gpu_streams* make(int gpu) {
    const c10::cuda::CUDAGuard here(static_cast<c10::DeviceIndex>(gpu));
    return new gpu_streams;
  }
  void give_back(int gpu, gpu_streams* s) {
    const std::lock_guard lock{mutex_};
    free_[gpu].push_back(s);
  }

  std::mutex mutex_;
  std::map<int, std::vector<gpu_streams*>> free_;
};

/// One per process, like the workspaces; never destroyed, because the driver may be unloaded before it.
stream_store& streams_of_process() {
  static auto* const store = new stream_store;
  return *store;
}

/// How many devices of a run are on each GPU.
class gpu_parts {
 public:
  /// Until the result is destroyed.
  std::shared_ptr<void> add(int gpu) {
    const std::lock_guard lock{mutex_};
    ++parts_[gpu];
    return {this, [gpu](gpu_parts* all) { all->remove(gpu); }};
  }
  /// At least 1.
  int on(int gpu) {
    const std::lock_guard lock{mutex_};
    return std::max(parts_[gpu], 1);
  }

 private:
  void remove(int gpu) {
    const std::lock_guard lock{mutex_};
    --parts_[gpu];
  }

  std::mutex mutex_;
  std::map<int, int> parts_;
};

gpu_parts& parts_of_gpus() {
  static auto* const parts = new gpu_parts;
  return *parts;
}

/// The state of a thread while it launches. A backward pass stays on this thread: Autograd's own thread for the GPU
/// would use neither its stream nor its pool.
struct launch_scope {
  explicit launch_scope(const c10::cuda::CUDAStream& stream) : on(stream) {
    c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
  }
  c10::cuda::CUDAStreamGuard on;
};

/// cudaSuccess: it works, whether or not it has anything to do.
cudaError_t error_of(cudaStream_t stream) noexcept {
  const auto e = cudaStreamQuery(stream);
  cuda_ignore(e);
  return e == cudaErrorNotReady ? cudaSuccess : e;
}

/// Called by the driver; CUDA calls are forbidden here.
void run_notice(void* given) {
  const std::unique_ptr<std::function<void()>> then{static_cast<std::function<void()>*>(given)};
  (*then)();
}

class cuda_driver final : public stream_driver {
 public:
  cuda_driver(int gpu, device_use use) : gpu_(gpu), use_(use), streams_(streams_of_process().borrow(gpu)) {}
  ~cuda_driver() override {
    for (const auto& streams : {&streams_->work, &streams_->notices}) {
      for (const auto& s : *streams) {
        cuda_ignore(cudaStreamSynchronize(s.get()));  // a stream that fails calls no host function any more
      }
    }
  }
  cuda_driver(const cuda_driver&) = delete;
  cuda_driver& operator=(const cuda_driver&) = delete;

  std::shared_ptr<void> serve(queue_kind queue) override {
    return std::make_shared<launch_scope>(
        c10::cuda::getStreamFromExternal(work(queue), static_cast<c10::DeviceIndex>(gpu_)));
  }

  void prepare() override { warm_up(gpu_); }
  fault explain(const std::exception_ptr& e) const noexcept override { return cuda_fault(e); }

  void wait(queue_kind queue, const stream_event& event) override {
    static_cast<const cuda_event&>(event).hold_up(work(queue));
  }

  stream_event_ptr record(queue_kind queue) override {
    return std::make_shared<cuda_event>(work(queue));
  }

  void notify(queue_kind queue, const stream_event& event, std::function<void()> then) override {
    const auto notices = streams_->notices[static_cast<std::size_t>(queue)].get();
    const auto& end = static_cast<const cuda_event&>(event);
    end.hold_up(notices);
    auto call = std::make_unique<std::function<void()>>(std::move(then));
    const auto e = cudaLaunchHostFunc(notices, run_notice, call.get());
    if (e == cudaSuccess) {
      static_cast<void>(call.release());
      return;
    }
    cuda_ignore(e);
    end.wait();
    (*call)();
  }

  void drain(queue_kind queue) override {
    cuda_check(cudaStreamSynchronize(work(queue)), "work that was launched has failed");
  }

  fault look() noexcept override {
    for (const auto& s : streams_->work) {
      if (error_of(s.get()) == cudaSuccess) {
        continue;
      }
      if (const auto e = error_of(s.get()); e != cudaSuccess) {  // else only the question has failed
        return lost_to(e, "work that was launched has failed");
      }
    }
    return {};
  }

  /// Of what was used between two readings, devices on one GPU have used equal parts.
  std::optional<energy_reading> energy() const override {
    const std::lock_guard lock{energy_mutex_};
    if (const auto counted = managed_.joules()) {
      joules_ += (*counted - counted_.value_or(*counted)) / parts_of_gpus().on(gpu_);
      counted_ = counted;
    }
    return counted_ ? std::optional(energy_reading{joules_, "nvml"}) : std::nullopt;
  }

  std::unique_ptr<work_meter> measure() override { return make_cuda_meter(use_); }
  page_locker* locker() noexcept override { return &locker_; }

 private:
  cudaStream_t work(queue_kind queue) const noexcept { return streams_->work[static_cast<std::size_t>(queue)].get(); }

  int gpu_;
  device_use use_;
  std::shared_ptr<gpu_streams> streams_;
  managed_gpu managed_{bus_of(gpu_)};
  std::shared_ptr<void> part_ = use_ == device_use::run ? parts_of_gpus().add(gpu_) : nullptr;
  mutable std::mutex energy_mutex_;
  mutable std::optional<double> counted_;  ///< by the GPU, at the last reading
  mutable double joules_ = 0;              ///< of it this device's part, since the first
  cuda_locker locker_{gpu_};
};

}  // namespace

std::unique_ptr<stream_driver> make_cuda_driver(int gpu, device_use use) {
  return std::make_unique<cuda_driver>(gpu, use);
}

}  // namespace hydra
