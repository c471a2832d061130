#pragma once
// What the pipelines with static stages have in common. Standard library only.

#include "actors/policy/stages.hpp"

namespace hydra {

/// A device takes only units of its own stages (shared_stages), dealt anew when a device is lost, and of those the ones
/// that the pipeline's order lets in. Of several: backward or forward visits first, as the pipeline says, then earlier
/// waves, then the longest remaining time.
class pipeline_policy : public policy {
 public:
  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) final;

 protected:
  enum class prefers : std::uint8_t { neither, forward, backward };
  pipeline_policy(dealing how, prefers first) : how_(how), first_(first) {}

  /// A training unit on the device of its stage.
  struct visit {
    const unit& next;
    const stages& dealt;
    std::uint32_t stage;
    std::span<const model_state> waves;   ///< the lanes of its replica
  };
  /// False: it has to wait for units of other waves of its replica.
  virtual bool lets_in(const visit&) const { return true; }

 private:
  bool may_visit(const candidate& c, const device_state& device, const policy_view& view) const;
  bool better(const candidate& a, const candidate& b) const;

  dealing how_;
  prefers first_;
};

}  // namespace hydra
