#pragma once
// The order of the interleaved schedule (Megatron-LM, Narayanan et al. 2021). Standard library only.

#include "actors/policy/lane_places.hpp"
#include "actors/policy/policy.hpp"

#include <cstdint>
#include <optional>

namespace hydra {

/// Shards are dealt to stages in turn, so that the device of a stage has several chunks of the model. Groups of waves
/// go forward through the device's chunks one after the other; after a warm-up a backward visit follows each forward
/// visit. A schedule of whole groups and chunks: what is missing of it (waves, shards) leaves gaps, and never blocks
/// it.
class interleaved_order {
 public:
  /// `group`: waves that go through a chunk before the next chunk; at least as many as stages.
  interleaved_order(const step_shape& shape, std::uint32_t stages, std::uint32_t stage, std::uint32_t group);

  /// True if all units of the step that come before it on its device are placed. `waves`: the lanes of its replica.
  bool in_turn(const unit& u, std::span<const model_state> waves) const;

 private:
  std::uint32_t position(std::uint32_t wave, std::uint32_t place) const;
  /// Of the first unit of a wave on this device from `place` on.
  std::optional<std::uint32_t> next(std::uint32_t wave, std::uint32_t place) const;
  /// How many visits of its direction come before.
  std::uint32_t turn(std::uint32_t wave, std::uint32_t chunk) const;

  lane_places places_;
  std::uint32_t shards_;
  std::uint32_t stages_;
  std::uint32_t stage_;
  std::uint32_t group_;
  std::uint32_t chunks_;
  std::uint32_t forwards_;
  std::uint32_t warm_up_;
};

}  // namespace hydra
