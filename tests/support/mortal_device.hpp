#pragma once
// A device that dies: it works like the one inside until a given number of operations has been submitted.

#include "runtime/device.hpp"
#include "runtime/fault.hpp"

#include <memory>
#include <utility>

namespace hydra::test {

/// The submission number `dies_at` (from 0) and all later ones throw; what was submitted before goes on.
class mortal_device final : public device {
 public:
  mortal_device(std::unique_ptr<device> inside, std::size_t dies_at) : inside_(std::move(inside)), left_(dies_at) {}

  const device_info& info() const noexcept override { return inside_->info(); }
  void on_completion(completion_sink sink) override { inside_->on_completion(std::move(sink)); }
  memory_usage memory() const noexcept override { return inside_->memory(); }
  bool stop(duration limit) noexcept override { return inside_->stop(limit); }

  ticket submit(queue_kind queue, operation op, std::span<const ticket> after) override {
    if (left_ == 0) {
      throw fault_error(fault_code::device_lost, info().name + " has died, as the test wants");
    }
    --left_;
    return inside_->submit(queue, std::move(op), after);
  }

 private:
  std::unique_ptr<device> inside_;
  std::size_t left_;
};

}  // namespace hydra::test
