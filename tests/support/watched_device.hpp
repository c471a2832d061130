#pragma once
// A device with something that happens before an operation: it dies, the run is interrupted, ..

#include "runtime/base/fault.hpp"
#include "runtime/device/device.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace hydra::test {

/// Calls `before` with the number of each submission (from 0). What it throws, the submission throws.
class watched_device final : public device {
 public:
  watched_device(std::unique_ptr<device> inside, std::function<void(std::size_t)> before)
      : inside_(std::move(inside)), before_(std::move(before)) {}

  const device_info& info() const noexcept override { return inside_->info(); }
  void on_completion(completion_sink sink) override { inside_->on_completion(std::move(sink)); }
  memory_usage memory() const noexcept override { return inside_->memory(); }
  bool stop(duration limit) noexcept override { return inside_->stop(limit); }

  ticket submit(queue_kind queue, operation op, std::span<const ticket> after) override {
    before_(submitted_++);
    return inside_->submit(queue, std::move(op), after);
  }

 private:
  std::unique_ptr<device> inside_;
  std::function<void(std::size_t)> before_;
  std::size_t submitted_ = 0;
};

/// The submission number `at` and all later ones throw; what was submitted before continues.
inline std::function<void(std::size_t)> dies(std::size_t at) {
  return [at](std::size_t n) {
    if (n >= at) {
      throw fault_error(fault_code::device_lost, "the device has died, as the test wants");
    }
  };
}

}  // namespace hydra::test
