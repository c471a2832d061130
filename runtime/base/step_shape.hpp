#pragma once
// How a training step is divided. Standard library only (policies include this file).

#include <cstdint>

namespace hydra {

/// How a step is divided into units. Its micro-batches form `replicas` groups, each with a gradient sum of its own, and
/// those of a replica form `waves`: one unit visits its shard with one wave. Groups and waves are contiguous, all of
/// one size. Replicas decide the bits of the result and are part of a model's identity; waves decide only the order of
/// work, because the gradient sum of a shard passes from wave to wave. With one replica and one wave, a unit visits its
/// shard with the whole step. The replicas may meet before a shard: it and those behind it are visited once, with the
/// whole step, and have one gradient sum. Some shards may be `pieces` of one layer, which are visited side by side.
struct step_shape {
  std::uint32_t shards = 1;
  std::uint32_t micro_batches = 1;   ///< of a step
  std::uint32_t replicas = 1;        ///< divides micro_batches
  std::uint32_t waves = 1;           ///< of each replica; divides its micro-batches
  std::uint32_t first_trained = 0;   ///< shards below it have only frozen parameters: no backward visits
  std::uint32_t abreast = 1;         ///< most shards side by side
  std::uint32_t meets = 0;           ///< shard before which the replicas meet; 0: they do not

  /// Groups of micro-batches: how often the first shard is visited forwards.
  std::uint32_t visits() const noexcept { return replicas * waves; }
  /// Micro-batches of each of these visits.
  std::uint32_t lane_size() const noexcept { return micro_batches / visits(); }
  /// Replicas are visited together there.
  bool meet_at(std::uint32_t shard) const noexcept { return meets > 0 && shard >= meets; }
  /// How often a shard is visited forwards.
  std::uint32_t visits_of(std::uint32_t shard) const noexcept { return meet_at(shard) ? 1 : visits(); }
  /// Micro-batches of each of these visits.
  std::uint32_t batches_of(std::uint32_t shard) const noexcept { return micro_batches / visits_of(shard); }
  /// Gradient sums of a shard.
  std::uint32_t sums_of(std::uint32_t shard) const noexcept { return meet_at(shard) ? 1 : replicas; }
  /// All lanes visit the same shards, each with its own micro-batches.
  bool lanes_alike() const noexcept { return abreast == 1 && meets == 0; }
  /// Units that can be computed at the same time. Where replicas meet, pieces are not before it.
  std::uint32_t lanes() const noexcept { return meets > 0 ? replicas + abreast - 1 : visits() * abreast; }
  friend bool operator==(const step_shape&, const step_shape&) = default;

  friend auto inspect(auto& f, step_shape& x) {
    return f(x.shards, x.micro_batches, x.replicas, x.waves, x.first_trained, x.abreast, x.meets);
  }
};

/// Throws fault_error{bad_input} if a number is 0, if the replicas do not divide the micro-batches, or the waves those
/// of a replica, if no shard is trained, or if replicas in waves meet, one alone, or before a shard that is not there.
void check_shape(const step_shape& shape);

/// Of the replicas of a step those that are computed in this process; the others are computed by other nodes. A
/// step_shape then has only these, numbered from 0, and their micro-batches.
struct step_share {
  std::uint32_t first = 0;  ///< replica
  std::uint32_t replicas = 0;
  std::uint32_t of = 0;    ///< replicas of the step; 0: all are computed here
  std::uint64_t team = 0;  ///< those who compute the others, for step_partners
  bool whole() const noexcept { return replicas == of; }
  friend bool operator==(const step_share&, const step_share&) = default;

  friend auto inspect(auto& f, step_share& x) { return f(x.first, x.replicas, x.of, x.team); }
};

}  // namespace hydra
