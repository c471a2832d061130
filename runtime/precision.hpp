#pragma once
// The number format that parameters and activations have on a device.

#include <cstdint>
#include <string>

namespace hydra {

/// fp32, or bf16 with fp32 masters, moments and gradient sums (numerics contract, rule 13). Of all devices of a run alike:
/// it decides results.
enum class precision : std::uint8_t { fp32, bf16 };

inline std::string to_string(precision p) { return p == precision::bf16 ? "bf16" : "fp32"; }

}  // namespace hydra
