#pragma once
// Static stages of a pipeline: which device has which shards of a replica. Standard library only.

#include "actors/policy/policy.hpp"

#include <cstddef>
#include <cstdint>

namespace hydra {

enum class dealing : std::uint8_t {
  groups,       ///< contiguous groups of nearly equal count
  round_robin,  ///< shard mod stages
};

/// Stage s is device (offset + s) mod D of the D current devices. There are as many stages as shards, but no more than
/// devices for the replica.
class stages {
 public:
  struct devices {
    std::size_t offset = 0;
    std::size_t count = 1;
  };
  stages(std::uint32_t shards, dealing how, const devices& of_replica);

  std::uint32_t count() const noexcept { return count_; }
  std::uint32_t stage_of(shard_index shard) const noexcept {
    return how_ == dealing::groups ? shard.value * count_ / shards_ : shard.value % count_;
  }
  /// Of all shards of the stage. Of groups, that of the stage after the last one is the number of shards.
  std::uint32_t first_shard(std::uint32_t stage) const noexcept {
    return how_ == dealing::groups ? (stage * shards_ + count_ - 1) / count_ : stage;
  }
  /// The device of a candidate's stage; the next one where the candidate may go if it must not go there.
  device_id device_of(const candidate& c, const policy_view& view) const;

 private:
  dealing how_;
  std::uint32_t shards_;
  std::uint32_t count_;
  std::size_t offset_;
};

/// Replicas of a model take D / R devices each (1 if there are fewer devices than replicas), those of model m from
/// device m on: several models share devices.
stages shared_stages(const candidate& c, dealing how, const policy_view& view);

/// The lanes of a candidate's replica, one for each wave.
inline std::span<const model_state> waves_of(const candidate& c, const policy_view& view) {
  return view.models.subspan(c.model_at - c.next.wave.value, view.models[c.model_at].shape.waves);
}

/// Units of the step that the lane has behind it: placed, and not undone. Units of a lane that has announced nothing
/// yet count as placed: it is not known where it starts.
std::uint32_t placed_in(step_index step, const model_state& lane);

}  // namespace hydra
