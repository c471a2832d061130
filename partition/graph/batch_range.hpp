#pragma once
// Micro-batches that are read together.

#include "runtime/base/block_id.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/unit.hpp"

#include <cstdint>

namespace hydra {

/// All micro-batches of a training step, or those of a round of an evaluation.
struct batch_range {
  pass_kind pass = pass_kind::train;
  step_index step;
  micro_batch_index first;
  std::uint32_t micro_batches = 1;
  friend auto operator<=>(const batch_range&, const batch_range&) = default;
};

/// What the first and the last shard's visits of `u`'s lane read; a training step of `of_step` micro-batches is read at
/// once, for all lanes.
inline batch_range batch_of(const unit& u, std::uint32_t of_step) noexcept {
  if (u.way == direction::evaluate) {
    return {.pass = pass_kind::evaluation, .step = u.step, .first = u.first_micro_batch,
            .micro_batches = u.micro_batches};
  }
  return {.pass = pass_kind::train, .step = u.step, .first = {}, .micro_batches = of_step};
}

}  // namespace hydra
