#pragma once
// The memory traffic of AdamW with next to no arithmetic.

#include <cstddef>

namespace hydra::apps {

/// Reads `gradients`, reads and writes the others: 28 bytes for each value.
void read_modify_write(std::size_t n, float* parameters, const float* gradients, float* first, float* second);

}  // namespace hydra::apps
