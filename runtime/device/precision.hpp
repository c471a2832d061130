#pragma once
// The number formats of parameters, activations and gradients on a device.

#include <cstdint>
#include <string>

namespace hydra {

/// fp32, or bf16 with fp32 masters, moments and gradient sums (numerics contract, rule 13). The same on all devices of
/// a run: it affects results.
enum class precision : std::uint8_t { fp32, bf16 };

/// Number formats of a run. `gradients`: format of a shard's gradient sums when they are copied to the host, bf16 only
/// if parameters are bf16.
struct number_formats {
  precision numbers = precision::fp32;
  precision gradients = precision::fp32;
  friend bool operator==(const number_formats&, const number_formats&) = default;
};

inline std::string to_string(precision p) { return p == precision::bf16 ? "bf16" : "fp32"; }

}  // namespace hydra
