#pragma once
// The chain of units of one model of a scheduling instance, with the time of each. Pure arithmetic.

#include "actors/policy/flight.hpp"
#include "actors/simulation/instance.hpp"

#include <cstdint>
#include <vector>

namespace hydra {

/// Units are counted within a step: 0 .. 2S-2.
class instance_chain {
 public:
  instance_chain(const instance_model& model, model_id id);

  std::uint32_t shards() const noexcept { return shards_; }
  std::uint32_t steps() const noexcept { return steps_; }
  std::uint32_t units_per_step() const noexcept { return 2 * shards_ - 1; }

  std::uint32_t shard_of(std::uint32_t index) const noexcept {
    return index < shards_ ? index : units_per_step() - 1 - index;
  }
  bool is_forward(std::uint32_t index) const noexcept { return index + 1 < shards_; }
  /// F and L read a version that no unit of the step has read before.
  bool opens_version(std::uint32_t index) const noexcept { return index < shards_; }
  /// B_s with 1 <= s <= S-2 reads the output of F_{s-1}.
  bool reads_checkpoint(std::uint32_t index) const noexcept {
    return index >= shards_ && shard_of(index) > 0;
  }
  bool ends_step(std::uint32_t index) const noexcept { return index + 1 == units_per_step(); }

  duration cost(std::uint32_t index) const { return costs_[index]; }
  /// Remaining wall time of the model from a unit on; zero after the last.
  duration remaining(std::uint32_t step, std::uint32_t index) const;

  /// What the model's task would announce.
  ready_unit announcement(std::uint32_t step, std::uint32_t index, std::uint32_t attempt) const;
  std::uint32_t index_of(const unit& u) const noexcept;

 private:
  model_id id_;
  std::uint32_t shards_;
  std::uint32_t steps_;
  double scale_;
  byte_count boundary_;
  std::vector<byte_count> parameters_;
  std::vector<duration> costs_;
  std::vector<duration> left_in_step_;   ///< from each unit on
};

/// Links of an instance carry one byte in a nanosecond.
constexpr byte_count bytes_for(duration copy) noexcept { return byte_count{static_cast<std::uint64_t>(copy.count())}; }
constexpr byte_rate instance_link{1e9};

}  // namespace hydra
