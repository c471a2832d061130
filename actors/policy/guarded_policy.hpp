#pragma once
// A user's policy object, whose exceptions are a reason to replace it. Standard library only.

#include "actors/policy/policy.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <string>

namespace hydra {

/// Passes every call on to `inner`. What it throws when it is notified of an event is thrown by the next choose(), and
/// by every later one. After an exception it is not called any more.
class guarded_policy final : public policy {
 public:
  /// `inner` is not null. Throws what its depth(), and without a name its name(), throws.
  explicit guarded_policy(std::unique_ptr<policy> inner, const std::string& name = "")
      : inner_{std::move(inner)}, name_{name.empty() ? inner_->name() : name}, depth_{inner_->depth()} {}

  std::string name() const override { return name_; }
  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override;
  std::uint32_t depth() const override { return depth_; }
  bool pending() const override;
  void model_left(model_id model) override;
  void unit_avoids(model_id model, device_id device) override;
  void device_left(device_id device) override;

 private:
  void call(const std::function<void()>& what, const std::string& which) const;

  std::unique_ptr<policy> inner_;
  std::string name_;
  std::uint32_t depth_;
  mutable std::exception_ptr failure_;  ///< pending() may fail, too
};

}  // namespace hydra
