#pragma once
// A device that hangs: it forwards to an inner device until a given computation, which does not end before a gate
// opens.

#include "runtime/device/device.hpp"
#include "tests/support/gate.hpp"

#include <memory>
#include <utility>

namespace hydra::test {

/// Where the computation hangs. Shared with the device, which may be left behind forever.
struct hanging_point {
  gate entered;
  gate go_on;
  gate left;
};

/// Computation number `hangs_at` (from 0) computes nothing and waits for the gate.
class hanging_device final : public device {
 public:
  hanging_device(std::unique_ptr<device> inside, std::size_t hangs_at, std::shared_ptr<hanging_point> where)
      : inside_(std::move(inside)), left_(hangs_at), where_(std::move(where)) {}

  const device_info& info() const noexcept override { return inside_->info(); }
  void on_completion(completion_sink sink) override { inside_->on_completion(std::move(sink)); }
  memory_usage memory() const noexcept override { return inside_->memory(); }
  bool stop(duration limit) noexcept override { return inside_->stop(limit); }

  ticket submit(queue_kind queue, operation op, std::span<const ticket> after) override {
    if (queue == queue_kind::compute && left_-- == 0) {
      op.work = [where = where_] {
        where->entered.open();
        where->go_on.wait();
        where->left.open();
      };
    }
    return inside_->submit(queue, std::move(op), after);
  }

 private:
  std::unique_ptr<device> inside_;
  std::size_t left_;
  std::shared_ptr<hanging_point> where_;
};

}  // namespace hydra::test
