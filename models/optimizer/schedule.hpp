#pragma once
// Learning-rate schedules.

#include <cstdint>

namespace hydra {

enum class schedule_kind : std::uint8_t { constant, linear, cosine };

/// `warmup` steps rise linearly from 1/warmup to 1 of the rate; then constant, or linear / half a cosine down to
/// `floor` (a fraction of the rate) at the last step.
struct learning_schedule {
  schedule_kind kind = schedule_kind::constant;
  std::uint32_t warmup = 0;
  double floor = 0;
};

/// Factor of the learning rate for step `step` (from 0) of `total_steps`.
double schedule_factor(const learning_schedule& schedule, std::uint32_t step, std::uint32_t total_steps) noexcept;

}  // namespace hydra
