#include "actors/policy/interleaved_order.hpp"

#include "actors/policy/stages.hpp"

#include <algorithm>

namespace hydra {

interleaved_order::interleaved_order(const step_shape& shape, std::uint32_t stages, std::uint32_t stage,
                                     std::uint32_t group)
    : places_(shape),
      shards_(shape.shards),
      stages_(stages),
      stage_(stage),
      group_(group),
      chunks_((shape.shards + stages - 1) / stages),
      forwards_((shape.waves + group - 1) / group * group * chunks_),
      warm_up_(std::min(forwards_, 2 * (stages - stage - 1) + (chunks_ - 1) * group)) {}

bool interleaved_order::in_turn(const unit& u, std::span<const model_state> waves) const {
  const auto mine = position(u.wave.value, places_.of(u.way, u.shard));
  for (std::uint32_t wave = 0; wave < waves.size(); ++wave) {
    const auto first = next(wave, placed_in(u.step, waves[wave]));
    if (first && *first < mine) {
      return false;
    }
  }
  return true;
}

/// The last shard's visit is a forward visit here; in the schedule its backward visit follows at once.
std::uint32_t interleaved_order::position(std::uint32_t wave, std::uint32_t place) const {
  const auto chunk = places_.shard_at(place) / stages_;
  if (place < shards_) {
    const auto n = turn(wave, chunk);
    return n + (n > warm_up_ ? n - warm_up_ : 0);
  }
  const auto n = turn(wave, chunks_ - 1 - chunk);
  return n + std::min(forwards_, warm_up_ + n + 1);
}

std::optional<std::uint32_t> interleaved_order::next(std::uint32_t wave, std::uint32_t place) const {
  while (place < places_.count() && places_.shard_at(place) % stages_ != stage_) {
    ++place;
  }
  return place < places_.count() ? std::optional{position(wave, place)} : std::nullopt;
}

std::uint32_t interleaved_order::turn(std::uint32_t wave, std::uint32_t chunk) const {
  return (wave / group_ * chunks_ + chunk) * group_ + wave % group_;
}

}  // namespace hydra
