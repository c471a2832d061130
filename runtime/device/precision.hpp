#pragma once
// The number formats that parameters, activations and gradients have on a device.

#include <cstdint>
#include <string>

namespace hydra {

/// fp32, or bf16 with fp32 masters, moments and gradient sums (numerics contract, rule 13). Of all devices of a run alike:
/// it decides results.
enum class precision : std::uint8_t { fp32, bf16 };

/// What a run computes in. `gradients`: what the sums of a shard's gradients are demoted in, bf16 only where parameters are.
struct number_formats {
  precision numbers = precision::fp32;
  precision gradients = precision::fp32;
  friend bool operator==(const number_formats&, const number_formats&) = default;
};

inline std::string to_string(precision p) { return p == precision::bf16 ? "bf16" : "fp32"; }

}  // namespace hydra
