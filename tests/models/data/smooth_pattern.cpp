#include "models/data/smooth_pattern.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace hydra;

TEST_CASE("a pattern is a function of its key, and its channels differ") {
  const auto a = smooth_pattern(1, {2, 4, 6});
  CHECK(a.size() == 48);
  CHECK(a == smooth_pattern(1, {2, 4, 6}));
  CHECK(a != smooth_pattern(2, {2, 4, 6}));
  CHECK(std::vector(a.begin(), a.begin() + 24) != std::vector(a.begin() + 24, a.end()));
}

TEST_CASE("a pattern varies, but little between neighbours") {
  constexpr std::int64_t side = 32;
  const auto values = smooth_pattern(3, {1, side, side});
  double squares = 0, steps = 0;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    squares += values[i] * values[i];
    if ((i + 1) % side != 0) steps += std::pow(values[i + 1] - values[i], 2);
  }
  CHECK(squares / side / side > 0.2);
  CHECK(steps < 0.1 * squares);  // for white noise it would be twice the squares
}

TEST_CASE("patterns of all keys have mean square one") {
  double squares = 0;
  for (std::uint64_t key = 0; key < 1000; ++key) squares += std::pow(smooth_pattern(key, {1, 1, 1})[0], 2);
  CHECK(squares / 1000 == Approx(1).margin(0.15));
}
