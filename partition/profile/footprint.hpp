#pragma once
// Bytes that a visit of a shard needs on its device.

#include "partition/profile/profile.hpp"
#include "runtime/base/unit.hpp"

namespace hydra {

/// Staging a visit needs `base + parameters + first_inputs` (W); computing it adds `working` (C).
struct footprint {
  byte_count parameters;   ///< that are stepped
  byte_count first_inputs;   ///< of the first micro-batch
  byte_count working;  ///< gradients (and, in bf16, their part) + two micro-batches of inputs and outputs + upstream
                       ///< + saved + transient
  byte_count base{};            ///< frozen parameters
  byte_count write_back{};      ///< part of `working` that is free only after the write-back: outputs, gradients
  byte_count staging() const noexcept { return base + parameters + first_inputs; }
  byte_count computing() const noexcept { return base + parameters + working; }
};

/// Most bytes of a gradient that are widened at a time when it is added to the sum on a device.
inline constexpr byte_count widening_room{std::uint64_t{4} << 20};

/// Of a backward visit that rounds its gradients to bf16: the fp32 sum is free after the computation; only as many
/// bytes as the parameters have wait for their copy.
footprint with_rounded_gradients(footprint backward);

/// Layers [first, last) of a profiled chain, visited in `way` and stepped on the host. Backward and evaluation of the
/// last piece include the loss.
footprint footprint_of(const chain_profile& profile, std::size_t first, std::size_t last, direction way);

/// What a forward visit of a piece can leave for its backward visit, of one micro-batch; 0 of the last piece, whose
/// forward is part of its backward visit.
byte_count saved_bytes(const chain_profile& profile, std::size_t first, std::size_t last);

/// A backward visit that also steps its piece: it needs optimizer state and the new parameters in addition, and writes
/// these back instead of the gradients.
footprint with_step(const chain_profile& profile, footprint backward);

/// The maxima over forward, backward and evaluation: what a cut has to fit. Backward includes the step where the
/// profile's stepping covers the piece.
struct shard_demand {
  byte_count staging;     ///< max W over the shard's units
  byte_count computing;   ///< max P + C over the shard's units
};
shard_demand demand_of(const chain_profile& profile, std::size_t first, std::size_t last);
/// The larger bytes of each kind.
shard_demand larger(const shard_demand& a, const shard_demand& b) noexcept;

}  // namespace hydra
