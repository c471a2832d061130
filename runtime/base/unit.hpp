#pragma once
// The unit: one visit of a shard. Standard library only (policies include this file).

#include "runtime/base/ids.hpp"

#include <string>

namespace hydra {

/// What a visit does. The last shard's forward, loss and backward are one unit of direction `backward`.
enum class direction : std::uint8_t { forward, backward, evaluate };

/// One visit of a shard with consecutive micro-batches; work_graph.hpp says which unit follows which. `attempt` grows
/// for all later units of its lane whenever one was lost or failed: it identifies late messages of an older attempt.
struct unit {
  model_id model;
  replica_id replica;
  wave_index wave;
  piece_index piece;  ///< of shards that are visited side by side; else 0
  step_index step;
  direction way = direction::forward;
  shard_index shard;
  micro_batch_index first_micro_batch;
  std::uint32_t micro_batches = 1;
  std::uint32_t attempt = 0;

  friend auto operator<=>(const unit&, const unit&) = default;

  friend auto inspect(auto& f, unit& x) {
    return f(x.model, x.replica, x.wave, x.piece, x.step, x.way, x.shard, x.first_micro_batch, x.micro_batches,
             x.attempt);
  }
};

/// True if both are the same visit, whatever the attempt.
bool same_visit(const unit& a, const unit& b) noexcept;
/// True if they never run at the same time: units of one piece of one wave of one replica.
inline bool same_lane(const unit& a, const unit& b) noexcept {
  return a.model == b.model && a.replica == b.replica && a.wave == b.wave && a.piece == b.piece;
}

/// "model 3 step 7 backward 2", with " attempt 1" if the attempt is not the first.
std::string to_string(const unit& u);
std::string to_string(direction d);

}  // namespace hydra

template <>
struct std::hash<hydra::unit> {
  std::size_t operator()(const hydra::unit& u) const noexcept;
};
