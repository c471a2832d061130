#include "models/random.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace hydra;

TEST_CASE("random bits are those of SplitMix64 and never change") {
  CHECK(random_bits(0, 0) == 0xE220A8397B1DCDAFull);
  CHECK(random_bits(0, 1) == 0x6E789E6AA1B965F4ull);
}

TEST_CASE("a key depends on every part and on their order") {
  CHECK(random_key({1, 2}) == random_key({1, 2}));
  CHECK(random_key({1, 2}) != random_key({2, 1}));
  CHECK(random_key({1, 2}) != random_key({1, 2, 0}));
  CHECK(random_key({1}) != random_key({2}));
}

TEST_CASE("a named key depends on the seed and on the name") {
  CHECK(random_key(1, "h.0.ln_1.weight") != random_key(2, "h.0.ln_1.weight"));
  CHECK(random_key(1, "h.0.ln_1.weight") != random_key(1, "h.1.ln_1.weight"));
}

TEST_CASE("uniform numbers fill [0, 1) evenly") {
  const std::uint64_t key = random_key({7});
  double sum = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const double u = random_uniform(key, i);
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    sum += u;
  }
  CHECK(sum / 10000 == Approx(0.5).margin(0.01));
}

TEST_CASE("normal numbers have mean 0, variance 1 and the tails of a normal") {
  const std::uint64_t key = random_key({7});
  double sum = 0, squares = 0;
  int beyond_two = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double x = random_normal(key, i);
    sum += x;
    squares += x * x;
    beyond_two += std::abs(x) > 2;
  }
  CHECK(sum / 20000 == Approx(0).margin(0.02));
  CHECK(squares / 20000 == Approx(1).margin(0.03));
  CHECK(beyond_two / 20000.0 == Approx(0.0455).margin(0.005));
}
