#include "models/optimizer/schedule.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

using namespace hydra;
using Catch::Contains;

namespace {

/// transformers 4.57, optimization.py, _get_cosine_with_hard_restarts_schedule_with_warmup_lr_lambda, after the
/// warm-up.
double transformers_restarts(int step, int warmup, int total, int cycles) {
  const double progress = double(step - warmup) / std::max(1, total - warmup);
  if (progress >= 1.0) return 0;
  return std::max(0.0, 0.5 * (1.0 + std::cos(std::numbers::pi * std::fmod(cycles * progress, 1.0))));
}

/// The same, _get_inverse_sqrt_schedule_lr_lambda with the time scale of get_inverse_sqrt_schedule.
double transformers_inverse_sqrt(int step, int warmup) {
  const int scale = warmup > 0 ? warmup : 10'000;
  return 1.0 / std::sqrt(double(step + scale - warmup) / scale);
}

/// Hu et al. 2024 (MiniCPM), section 4.2, with a decay along a line that ends with the last step.
double plain_wsd(int step, int total, int decay, double floor) {
  const int left = total - 1 - step;
  return left >= decay ? 1 : floor + (1 - floor) * left / decay;
}

void check_factors(const learning_schedule& s, int total, const std::function<double(int)>& expected) {
  const int warmup = static_cast<int>(warmup_steps(s, static_cast<std::uint32_t>(total)));
  for (int step = warmup; step < total; ++step) {
    CAPTURE(step, total, warmup);
    REQUIRE(schedule_factor(s, static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(total)) ==
            Approx(expected(step)).margin(1e-12));
  }
}

}  // namespace

TEST_CASE("the warm-up rises linearly to the full rate") {
  const learning_schedule s{.kind = schedule_kind::constant, .warmup = 4};
  CHECK(schedule_factor(s, 0, 10) == 0.25);
  CHECK(schedule_factor(s, 3, 10) == 1);
  CHECK(schedule_factor(s, 9, 10) == 1);
}

TEST_CASE("a linear schedule falls from the rate to the floor at the last step") {
  const learning_schedule s{.kind = schedule_kind::linear, .warmup = 2, .floor = 0.1};
  CHECK(schedule_factor(s, 2, 13) == 1);
  CHECK(schedule_factor(s, 7, 13) == Approx(0.55));
  CHECK(schedule_factor(s, 12, 13) == Approx(0.1));
}

TEST_CASE("a cosine schedule falls along half a cosine") {
  const learning_schedule s{.kind = schedule_kind::cosine, .floor = 0.2};
  CHECK(schedule_factor(s, 0, 9) == 1);
  CHECK(schedule_factor(s, 2, 9) == Approx(0.2 + 0.8 * (1 + 0.70710678) / 2));
  CHECK(schedule_factor(s, 4, 9) == Approx(0.6));
  CHECK(schedule_factor(s, 8, 9) == Approx(0.2));
}

TEST_CASE("a schedule that is all warm-up never divides by zero") {
  const learning_schedule s{.kind = schedule_kind::cosine, .warmup = 3, .floor = 0.5};
  CHECK(schedule_factor(s, 2, 3) == 1);
  CHECK(schedule_factor(s, 3, 3) == 0.5);
  CHECK(schedule_factor({}, 0, 0) == 1);
}

TEST_CASE("cosine with restarts has the factors of transformers") {
  for (const std::uint32_t warmup : {0u, 4u}) {
    for (const std::uint32_t cycles : {1u, 2u, 5u}) {
      const learning_schedule s{.kind = schedule_kind::cosine_restarts, .warmup = warmup, .cycles = cycles};
      check_factors(s, 37, [&](int step) { return transformers_restarts(step, int(warmup), 37, int(cycles)); });
    }
  }
  const learning_schedule twice{.kind = schedule_kind::cosine_restarts, .floor = 0.2, .cycles = 2};
  CHECK(schedule_factor(twice, 5, 20) == Approx(0.6));
  CHECK(schedule_factor(twice, 10, 20) == 1);
}

TEST_CASE("the inverse square root has the factors of transformers, and is 1 at the first step after the warm-up") {
  for (const std::uint32_t warmup : {0u, 1u, 7u}) {
    const learning_schedule s{.kind = schedule_kind::inverse_sqrt, .warmup = warmup};
    check_factors(s, 50, [&](int step) { return transformers_inverse_sqrt(step, int(warmup)); });
    CHECK(schedule_factor(s, warmup, 50) == 1);
  }
}

TEST_CASE("warm-up, stable, decay: the last steps fall to the floor at the last one") {
  const learning_schedule s{.kind = schedule_kind::wsd, .warmup = 5, .floor = 0.1, .decay_ratio = 0.2};
  check_factors(s, 50, [](int step) { return plain_wsd(step, 50, 10, 0.1); });
  CHECK(schedule_factor(s, 39, 50) == 1);
  CHECK(schedule_factor(s, 40, 50) < 1);
  CHECK(schedule_factor(s, 49, 50) == Approx(0.1));
  const learning_schedule rounded{.kind = schedule_kind::wsd, .decay_ratio = 0.11};
  check_factors(rounded, 10, [](int step) { return plain_wsd(step, 10, 2, 0); });
}

TEST_CASE("a decay that would begin in the warm-up begins after it") {
  const learning_schedule s{.kind = schedule_kind::wsd, .warmup = 8, .decay_ratio = 0.9};
  CHECK(schedule_factor(s, 7, 10) == 1);
  CHECK(schedule_factor(s, 8, 10) == 1);
  CHECK(schedule_factor(s, 9, 10) == 0);
}

TEST_CASE("a share of all steps as warm-up is that many steps, rounded up") {
  CHECK(warmup_steps({.warmup_ratio = 0.03}, 1000) == 30);
  CHECK(warmup_steps({.warmup_ratio = 0.03}, 34) == 2);
  CHECK(warmup_steps({.warmup_ratio = 0.03}, 0) == 0);
  CHECK(warmup_steps({.warmup = 7}, 1000) == 7);
  for (const auto kind : {schedule_kind::constant, schedule_kind::linear, schedule_kind::cosine, schedule_kind::wsd,
                          schedule_kind::cosine_restarts, schedule_kind::inverse_sqrt}) {
    const learning_schedule steps{.kind = kind, .warmup = 3}, share{.kind = kind, .warmup_ratio = 0.25};
    for (std::uint32_t step = 0; step < 12; ++step)
      CHECK(schedule_factor(steps, step, 12) == schedule_factor(share, step, 12));
  }
}

TEST_CASE("a schedule that the steps cannot hold is refused with the numbers") {
  CHECK_NOTHROW(check_steps({.warmup = 10}, 10));
  CHECK_THROWS_WITH(check_steps({.kind = schedule_kind::cosine, .warmup = 10}, 3),
                    "warmup is 10, but the model is trained for 3 steps; use at most as many, or train for more steps");
  const learning_schedule wsd{.kind = schedule_kind::wsd, .warmup = 8, .decay_ratio = 0.2};
  CHECK_NOTHROW(check_steps(wsd, 10));
  CHECK_THROWS_WITH(check_steps({.kind = schedule_kind::wsd, .warmup = 8, .decay_ratio = 0.3}, 10),
                    Contains("a warm-up of 8 steps and then a decay of 3 ") && Contains("more than the 10 steps"));
  CHECK_THROWS_WITH(check_steps({.kind = schedule_kind::wsd, .warmup_ratio = 0.5, .decay_ratio = 0.5}, 5),
                    Contains("a warm-up of 3 steps and then a decay of 3 "));
  CHECK_NOTHROW(check_steps({.kind = schedule_kind::cosine, .warmup = 8, .decay_ratio = 0.3}, 10));
  const learning_schedule cycles{.kind = schedule_kind::cosine_restarts, .warmup = 4, .cycles = 6};
  CHECK_NOTHROW(check_steps(cycles, 10));
  CHECK_THROWS_WITH(check_steps(cycles, 9),
                    Contains("cycles is 6, but the model is trained for 5 steps after the warm-up"));
}

TEST_CASE("the last step of a cycle of cosine with restarts has the value that the header names, not the floor") {
  const learning_schedule s{.kind = schedule_kind::cosine_restarts, .floor = 0.2, .cycles = 2};
  const double last = 0.2 + 0.8 * (1 + std::cos(std::numbers::pi * 9 / 10)) / 2;
  CHECK(schedule_factor(s, 9, 20) == Approx(last));
  CHECK(schedule_factor(s, 19, 20) == Approx(last));
  CHECK(last > 0.2);
}

/// transformers: step / n.
TEST_CASE("the warm-up of transformers is a step behind") {
  const learning_schedule s{.warmup = 10};
  for (std::uint32_t step = 0; step < 10; ++step) CHECK(schedule_factor(s, step, 20) == (step + 1) / 10.0);
}
