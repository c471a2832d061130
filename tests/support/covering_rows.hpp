#pragma once
// Pairwise coverage: few rows of a product in which every two values of different axes meet.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hydra::test {

/// All rows of indices below `sizes`.
std::vector<std::vector<std::size_t>> product_rows(const std::vector<std::size_t>& sizes);

/// Of these rows again and again one that has the most pairs that no row before it has (the greedy algorithm of AETG:
/// Cohen and others, 1997), until each pair is in one; `seed` decides among equal ones.
std::vector<std::vector<std::size_t>> covering_rows(const std::vector<std::size_t>& sizes, std::uint32_t seed);

}  // namespace hydra::test
