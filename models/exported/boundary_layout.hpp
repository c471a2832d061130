#pragma once
// Where the parts of a boundary lie in its one flat buffer (FORMAT.md, "Boundaries"). Standard library only.

#include "models/exported/graph.hpp"

#include <cstdint>
#include <vector>

namespace hydra {

/// Parts begin at multiples of this.
inline constexpr std::int64_t part_alignment = 256;

struct part_place {
  std::int64_t offset = 0;  ///< bytes
  std::int64_t bytes = 0;   ///< without padding
};

struct boundary_layout {
  std::vector<part_place> parts;
  std::int64_t bytes = 0;  ///< padded
};

/// Throws fault_error{bad_input} if a size is below 0 or the bytes do not fit into 63 bits.
boundary_layout lay_out(const std::vector<graph_part>& parts, std::int64_t samples);

}  // namespace hydra
