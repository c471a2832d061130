#pragma once
// A device with something that happens before an operation: it dies, the run is interrupted, ..

#include "runtime/base/fault.hpp"
#include "runtime/device/device.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace hydra::test {

/// Called before each submission. What it throws, the submission throws.
using before_operation = std::function<void(const operation&)>;

class watched_device final : public device {
 public:
  watched_device(std::unique_ptr<device> inside, before_operation before)
      : inside_(std::move(inside)), before_(std::move(before)) {}

  const device_info& info() const noexcept override { return inside_->info(); }
  void on_completion(completion_sink sink) override { inside_->on_completion(std::move(sink)); }
  memory_usage memory() const noexcept override { return inside_->memory(); }
  bool stop(duration limit) noexcept override { return inside_->stop(limit); }

  ticket submit(queue_kind queue, operation op, std::span<const ticket> after) override {
    before_(op);
    return inside_->submit(queue, std::move(op), after);
  }

 private:
  std::unique_ptr<device> inside_;
  before_operation before_;
};

/// The submission number `at` (from 0) and all later ones throw; what was submitted before continues.
inline before_operation dies(std::size_t at) {
  return [at, n = std::size_t{0}](const operation&) mutable {
    if (n++ >= at) {
      throw fault_error(fault_code::device_lost, "the device has died, as the test wants");
    }
  };
}

/// A backward computation of a training step, in a run that writes a trace.
inline bool is_backward(const operation& op) {
  return op.label.name == std::string_view("execute_shard") && op.label.detail.find(" backward ") != std::string::npos;
}

}  // namespace hydra::test
