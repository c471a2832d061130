#pragma once
// How long a collective operation takes on links of known rates. Pure arithmetic.

#include "runtime/base/bytes.hpp"
#include "runtime/collective/collective.hpp"

#include <cstdint>
#include <span>

namespace hydra {

struct network_rates {
  duration latency{};  ///< from asking for a little to having it
  byte_rate node{};    ///< that a node can send, and as much receive at the same time
  byte_rate shared{};  ///< of all nodes together, where they share a link or a machine
};

/// One round after the other. A round takes the latency, and as long as the node that sends or receives most; nothing
/// if all of its transfers stay on a node. `node_of` each party; empty: each has its own.
duration predicted_time(const collective& c, std::uint32_t bytes_per_value, const network_rates& rates,
                        std::span<const std::uint32_t> node_of = {});

}  // namespace hydra
