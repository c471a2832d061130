#pragma once
// When a device fetches what a unit reads, and whose bytes that takes, by role.

#include "runtime/base/work_unit.hpp"

#include <cstdint>

namespace hydra {

enum class fetch_time : std::uint8_t {
  with_claim,          ///< in staging bytes (W); it stays in the cache
  with_micro_batch,    ///< each part with its micro-batch: the first as with_claim, the others are part of C
  with_working_bytes,  ///< when the unit has got C, of which it is a part
  while_computing,     ///< a block for each micro-batch that has been computed; part of C
  never                ///< it has stayed on the device, or the unit does without it
};

constexpr fetch_time fetched(block_role role) noexcept {
  switch (role) {
    case block_role::parameters:
    case block_role::base:
      return fetch_time::with_claim;
    case block_role::input:
    case block_role::upstream:
    case block_role::skip:
    case block_role::targets:
      return fetch_time::with_micro_batch;
    case block_role::sum:
      return fetch_time::with_working_bytes;
    case block_role::state:
      return fetch_time::while_computing;
    case block_role::saved:
    case block_role::output:
    case block_role::joined:
    case block_role::loss:
      return fetch_time::never;
  }
  return fetch_time::never;
}

}  // namespace hydra
