#pragma once
// Runs an untrusted policy on a thread of its own, with a time limit for each call. Standard library only.

#include "actors/policy/policy.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace hydra {

/// Passes every call on to `inner` on another thread and waits for it. choose() throws fault_error when a call, this
/// one or an event before, has taken longer than the limit (wall time) or has thrown; so does every later one. A call
/// that never returns is abandoned with the thread and `inner`: both work on copies of the arguments. `inner` is
/// destroyed on that thread.
class limited_policy final : public policy {
 public:
  limited_policy(std::unique_ptr<policy> inner, std::string name, duration limit = std::chrono::milliseconds(100));
  ~limited_policy() override;
  limited_policy(const limited_policy&) = delete;
  limited_policy& operator=(const limited_policy&) = delete;

  std::string name() const override { return name_; }
  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override;
  std::uint32_t depth() const override { return depth_; }
  void model_left(model_id model) override;
  void unit_avoids(model_id model, device_id device) override;
  void device_left(device_id device) override;

 private:
  struct helper;
  /// False, with `failure_` set, if it has thrown or has not returned in time.
  bool call(std::function<void(policy&)> what, const std::string& which);

  std::string name_;
  duration limit_;
  std::uint32_t depth_ = 1;
  std::shared_ptr<helper> helper_;  ///< shared with its thread, which may outlive this
  std::string failure_;
};

}  // namespace hydra
