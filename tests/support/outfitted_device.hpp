#pragma once
// A device that works like the one inside, but with another place for tensors, a meter, a locker or a model.

#include "runtime/device/device.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace hydra::test {

/// Empty: as the device inside has it.
struct outfit {
  std::string torch_device{};
  std::function<std::unique_ptr<work_meter>()> meter{};
  std::function<void(page_locker*)> at_end{};   ///< called with the locker, which is about to be destroyed
  std::unique_ptr<page_locker> locker{};
  std::string model{};
  std::function<std::optional<energy_reading>()> energy{};
};

class outfitted_device final : public device {
 public:
  outfitted_device(std::unique_ptr<device> inside, outfit with)
      : inside_(std::move(inside)), with_(std::move(with)), info_(inside_->info()) {
    if (!with_.torch_device.empty()) info_.torch_device = with_.torch_device;
    if (!with_.model.empty()) info_.model = with_.model;
  }
  ~outfitted_device() override {
    if (with_.at_end) with_.at_end(locker());
  }

  const device_info& info() const noexcept override { return info_; }
  void on_completion(completion_sink sink) override { inside_->on_completion(std::move(sink)); }
  memory_usage memory() const noexcept override { return inside_->memory(); }
  bool stop(duration limit) noexcept override { return inside_->stop(limit); }
  std::unique_ptr<work_meter> measure() override { return with_.meter ? with_.meter() : inside_->measure(); }
  std::optional<energy_reading> energy() const override { return with_.energy ? with_.energy() : inside_->energy(); }
  page_locker* locker() noexcept override { return with_.locker ? with_.locker.get() : inside_->locker(); }
  ticket submit(queue_kind queue, operation op, std::span<const ticket> after) override {
    return inside_->submit(queue, std::move(op), after);
  }

 private:
  std::unique_ptr<device> inside_;
  outfit with_;
  device_info info_;
};

}  // namespace hydra::test
