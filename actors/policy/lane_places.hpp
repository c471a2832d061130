#pragma once
// The places of a lane (model_state::place). Standard library only.

#include "runtime/base/ids.hpp"
#include "runtime/base/step_shape.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>

namespace hydra {

/// F_0 .. F_{S-2}, B_{S-1} (with the loss) .. B_t, where t is the first shard with trained parameters.
class lane_places {
 public:
  explicit lane_places(const step_shape& shape) noexcept
      : last_(shape.shards - 1), count_(2 * shape.shards - 1 - shape.first_trained) {}

  std::uint32_t count() const noexcept { return count_; }
  std::uint32_t of(direction way, shard_index shard) const noexcept {
    return way == direction::forward ? shard.value : 2 * last_ - shard.value;
  }
  std::uint32_t shard_at(std::uint32_t place) const noexcept { return place < last_ ? place : 2 * last_ - place; }

 private:
  std::uint32_t last_;
  std::uint32_t count_;
};

}  // namespace hydra
