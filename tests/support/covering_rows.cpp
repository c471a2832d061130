#include "tests/support/covering_rows.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <set>

namespace hydra::test {

namespace {

using row = std::vector<std::size_t>;
using pair = std::array<std::size_t, 4>;  // two axes, and a value of each

std::vector<pair> pairs_of(const row& r) {
  std::vector<pair> all;
  for (std::size_t a = 0; a < r.size(); ++a) {
    for (std::size_t b = a + 1; b < r.size(); ++b) all.push_back({a, b, r[a], r[b]});
  }
  return all;
}

}  // namespace

std::vector<row> product_rows(const std::vector<std::size_t>& sizes) {
  std::vector<row> rows{{}};
  for (const std::size_t size : sizes) {
    std::vector<row> longer;
    for (const row& r : rows) {
      for (std::size_t value = 0; value < size; ++value) longer.emplace_back(r).push_back(value);
    }
    rows = std::move(longer);
  }
  return rows;
}

std::vector<row> covering_rows(const std::vector<std::size_t>& sizes, std::uint32_t seed) {
  auto rows = product_rows(sizes);
  std::ranges::shuffle(rows, std::mt19937(seed));
  std::set<pair> missing;
  for (const row& r : rows) {
    for (const pair& p : pairs_of(r)) missing.insert(p);
  }
  const auto gain = [&](const row& r) {
    return std::ranges::count_if(pairs_of(r), [&](const pair& p) { return missing.contains(p); });
  };
  std::vector<row> chosen;
  while (!missing.empty()) {
    chosen.push_back(*std::ranges::max_element(rows, {}, gain));
    for (const pair& p : pairs_of(chosen.back())) missing.erase(p);
  }
  return chosen;
}

}  // namespace hydra::test
