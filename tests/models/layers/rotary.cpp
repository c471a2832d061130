#include "models/layers/rotary.hpp"

#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <numbers>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

const rope_scaling llama3{.how = rope_scaling::kind::llama3,
                          .factor = 8,
                          .low_frequency_factor = 1,
                          .high_frequency_factor = 4,
                          .original_context = 8192};

double wave(double frequency) { return 2 * std::numbers::pi / frequency; }

}  // namespace

TEST_CASE("frequencies fall geometrically from one to nearly one over theta") {
  const auto f = rotary{{.size = 6, .theta = 1000}}.frequencies();
  REQUIRE(f.size() == 3);
  CHECK(f[0] == 1);
  CHECK(f[1] == Approx(0.1).epsilon(1e-6));
  CHECK(f[2] == Approx(0.01).epsilon(1e-6));
}

TEST_CASE("features i and i + size/2 are rotated by position times frequency") {
  const rotary r{{.size = 4, .theta = 100}};
  const at::Tensor x = random_tensor({1, 1, 3, 4}, 1, at::kDouble),
                   y = rotated(x, r.turns_at(consecutive_positions(5, 3, x), x));
  for (std::int64_t token = 0; token < 3; ++token)
    for (std::int64_t i = 0; i < 2; ++i) {
      const double angle = static_cast<double>(5 + token) * r.frequencies()[static_cast<std::size_t>(i)];
      const double a = number(x[0][0][token][i]), b = number(x[0][0][token][i + 2]);
      CHECK(number(y[0][0][token][i]) == Approx(a * std::cos(angle) - b * std::sin(angle)).epsilon(1e-5));
      CHECK(number(y[0][0][token][i + 2]) == Approx(b * std::cos(angle) + a * std::sin(angle)).epsilon(1e-5));
    }
}

TEST_CASE("a product of rotated queries and keys depends only on their distance") {
  const rotary r{{.size = 8}};
  const at::Tensor q = random_tensor({1, 1, 1, 8}, 1, at::kDouble), k = random_tensor({1, 1, 1, 8}, 2, at::kDouble);
  const auto product = [&](std::int64_t at, std::int64_t other) {
    const auto turned = [&](const at::Tensor& x, std::int64_t position) {
      return rotated(x, r.turns_at(consecutive_positions(position, 1, x), x));
    };
    return turned(q, at).mul(turned(k, other)).sum();
  };
  CHECK(distance(product(3, 1), product(42, 40)) < 1e-5);
  CHECK(distance(product(3, 1), product(4, 1)) > 1e-2);
}

TEST_CASE("linear scaling divides all frequencies by its factor") {
  const auto plain = rotary{{.size = 6}}.frequencies();
  const auto scaled = rotary{{.size = 6, .scaling = {.how = rope_scaling::kind::linear, .factor = 4}}}.frequencies();
  for (std::size_t i = 0; i < 3; ++i) CHECK(scaled[i] == plain[i] / 4);
}

TEST_CASE("llama3 scaling stretches long waves, keeps short ones and blends between") {
  const auto plain = rotary{{.size = 128, .theta = 500000}}.frequencies();
  const auto scaled = rotary{{.size = 128, .theta = 500000, .scaling = llama3}}.frequencies();
  int blended = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (wave(plain[i]) < 2048) CHECK(scaled[i] == plain[i]);
    if (wave(plain[i]) > 8192) CHECK(scaled[i] == plain[i] / 8);
    if (wave(plain[i]) > 2048 && wave(plain[i]) < 8192) {
      const double share = (8192 / wave(plain[i]) - 1) / 3;
      CHECK(scaled[i] == Approx((1 - share) * plain[i] / 8 + share * plain[i]).epsilon(1e-5));
      ++blended;
    }
  }
  CHECK(blended > 3);
}

TEST_CASE("longrope scaling divides each frequency by its factor, and multiplies what is rotated by its magnitude") {
  const rope_scaling longrope{.how = rope_scaling::kind::longrope, .factors = {1, 2, 8}, .magnitude = 1.5};
  const rotary plain{{.size = 6}}, scaled{{.size = 6, .scaling = longrope}};
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(scaled.frequencies()[i] == Approx(plain.frequencies()[i] / longrope.factors[i]).epsilon(1e-6));
  const at::Tensor x = random_tensor({1, 1, 1, 6}, 1), at_zero = consecutive_positions(0, 1, x);
  CHECK(distance(rotated(x, scaled.turns_at(at_zero, x)), x.mul(1.5)) < 1e-6);
  CHECK_THROWS_WITH(rotary({.size = 8, .scaling = longrope}), Contains("3 factors for 4 pairs"));
}

TEST_CASE("features beyond the rotated ones stay") {
  const rotary r{{.size = 4}};
  const at::Tensor x = random_tensor({2, 3, 5, 10}, 1);
  const rotary_turns turns = r.turns_at(consecutive_positions(3, 5, x), x);
  const at::Tensor y = rotated(x, turns);
  CHECK(same_bits(y.narrow(3, 0, 4), rotated(x.narrow(3, 0, 4), turns)));
  CHECK(same_bits(y.narrow(3, 4, 6), x.narrow(3, 4, 6)));
}

TEST_CASE("rotary positions refuse odd sizes and impossible scalings") {
  CHECK_THROWS_WITH(rotary({.size = 5}), Contains("5 is odd"));
  CHECK_THROWS_WITH(rotary({.size = 1'000'000'000'000}),
                    Contains("1000000000000 features") && Contains("at most 65536"));
  CHECK_THROWS_WITH(rotary({.size = 4, .theta = 0}), Contains("theta is 0"));
  CHECK_THROWS_WITH(rotary({.size = 4, .scaling = {.how = rope_scaling::kind::linear, .factor = 0}}),
                    Contains("factor of the scaling is 0"));
  CHECK_THROWS_WITH(rotary({.size = 4, .scaling = {.how = rope_scaling::kind::llama3}}), Contains("original context"));
  rope_scaling crossed = llama3;
  crossed.low_frequency_factor = 4;
  CHECK_THROWS_WITH(rotary({.size = 4, .scaling = crossed}), Contains("must be above the low one"));
}
