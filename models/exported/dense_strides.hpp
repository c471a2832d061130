#pragma once
// Strides without gaps and overlaps. Standard library only.

#include <cstdint>
#include <vector>

namespace hydra {

/// Without the dimensions of size 1, each stride is the product of the sizes of those with smaller strides. True for a
/// shape that has no elements. Shape and strides are equally long.
bool is_dense(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides);

}  // namespace hydra
