#pragma once
// The emulated link of a virtual device.

#include "runtime/base/bytes.hpp"

namespace hydra {

/// Full duplex: each direction has this rate and latency.
struct emulated_link {
  byte_rate rate;      ///< unlimited if zero
  duration latency{};  ///< per copy

  duration time_for(byte_count n) const noexcept { return latency + rate.time_for(n); }
};

}  // namespace hydra
