#pragma once
// Sums in double, in an order that vectorises and that depends on nothing but their length.

#include <cstddef>

namespace hydra {

/// Of value(i), i < n, in 16 sums that are added in the end. For functions that HYDRA_VECTOR_CLONES precedes.
template <class Value>
[[gnu::always_inline]] inline double lane_sum(std::size_t n, Value value) {
  constexpr std::size_t lanes = 16;
  double sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::size_t l = 0; l < lanes; ++l) sums[l] += static_cast<double>(value(i + l));
  for (; i < n; ++i) sums[i % lanes] += static_cast<double>(value(i));
  double all = 0;
  for (const double s : sums) all += s;
  return all;
}

}  // namespace hydra
