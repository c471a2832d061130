#pragma once
// How much a test tries. A deep run (HYDRA_TESTS=deep) tries everything, the others a sample of it. What a sample has
// is determined by HYDRA_TEST_SEED, which tests/run takes from the commit: every commit tries something else, and a
// failure comes again with the seed that the test program prints.

#include "tests/support/covering_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <ranges>
#include <utility>
#include <vector>

namespace hydra::test {

bool is_deep();
std::uint32_t test_seed();

/// `n` of the values, one from each of n equal parts of them, in their order; in a deep run all.
template <class T>
std::vector<T> sampled(std::vector<T> all, std::size_t n) {
  if (is_deep() || all.size() <= n) return all;
  std::mt19937 random(test_seed());
  std::vector<T> some;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t first = all.size() * i / n, past = all.size() * (i + 1) / n;
    some.push_back(std::move(all[first + random() % (past - first)]));
  }
  return some;
}

/// At which operations something happens: 0, 1, .. `dense`, then every `stride`-th below `past`.
std::vector<std::size_t> moments(std::size_t dense, std::size_t past, std::size_t stride);

/// Rows of indices, one for each axis, in which every two values of different axes meet; in a deep run all rows.
std::vector<std::vector<std::size_t>> combinations(const std::vector<std::size_t>& sizes);

/// The seeds [1, all] in a deep run, else a fifth as many in a row, from a place in the first hundred thousand.
std::ranges::iota_view<std::uint32_t, std::uint32_t> seeds(std::uint32_t all);

}  // namespace hydra::test
