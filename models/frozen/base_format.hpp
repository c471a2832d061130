#pragma once
// How frozen parameters are stored. Standard library only.

#include <cstdint>
#include <string>

namespace hydra {

/// The format of a base on the host, on devices and on the link between them. A device computes with the stored values:
/// they are widened for one layer at a time (layer_values.hpp).
enum class base_format : std::uint8_t {
  as_computed,  ///< the devices' precision
  bf16,         ///< all parameters are rounded (nearest, ties to even)
  nf4           ///< weights of linear maps below the last layer in 4 bits (frozen/nf4.hpp), all else as computed
};

/// As a workload names them: "fp32" is what devices compute with unless their precision is another one.
inline std::string to_string(base_format f) {
  return f == base_format::nf4 ? "nf4" : f == base_format::bf16 ? "bf16" : "fp32";
}

}  // namespace hydra
