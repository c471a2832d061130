#pragma once
// Least laxity with affinity (scheduling page, section 2). Standard library only.

#include "actors/policy/fluid.hpp"
#include "actors/policy/longest_first.hpp"

#include <functional>

namespace hydra {

/// Critical candidates (laxity within the margin): the longest of them. Without any the least transfer; of equals the
/// longest, then the device's own model, then the lower id.
class lla final : public policy {
 public:
  explicit lla(const critical_margin& margin = {}) : margin_(margin) {}

  std::string name() const override { return "lla"; }

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override {
    fluid_.look(view);
    return choose(device, candidates, view, fluid_);
  }

  /// Without any critical candidate: `relaxed(device, candidates)`. For policies that have computed it already.
  using relaxed_choice = std::size_t (*)(const device_state&, std::span<const candidate>);
  std::size_t choose(const device_state& device, std::span<const candidate> candidates, const policy_view& view,
                     const fluid& left, relaxed_choice relaxed = least_transfer) const;

  static std::size_t least_transfer(const device_state& device, std::span<const candidate> candidates);

 private:
  critical_margin margin_;
  fluid fluid_;
};

}  // namespace hydra
