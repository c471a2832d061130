#pragma once
// What a model needs at least, however it is cut: known from its parameters, before anything is measured.

#include "models/chain.hpp"
#include "models/optimizer/update_rule.hpp"
#include "runtime/base/bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace hydra {

/// No plan of the model needs less on the host: boundary activations and batches come on top. What it needs on a device
/// is known when its layers have been measured.
struct least_memory {
  byte_count parameters;  ///< frozen ones included
  byte_count gradients;   ///< of all replicas, and those that a lost attempt may still write
  byte_count state;       ///< moments, and masters if devices compute in another format

  byte_count host() const noexcept { return parameters + gradients + state; }
};

/// Of a model alone on `devices` devices. `replicas`: gradient sums of a step on this host.
least_memory least_memory_of(const chain& model, const update_options& rule, std::uint32_t replicas,
                             std::size_t devices);

}  // namespace hydra
