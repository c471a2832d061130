#include "models/optimizer/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hydra {
namespace {

/// 0 at the first step after the warm-up, 1 at the last step.
double progress(const learning_schedule& schedule, std::uint32_t step, std::uint32_t total_steps) noexcept {
  const double last = static_cast<double>(total_steps) - 1 - schedule.warmup;
  return last <= 0 ? 1 : std::min(1.0, (static_cast<double>(step) - schedule.warmup) / last);
}

}  // namespace

double schedule_factor(const learning_schedule& schedule, std::uint32_t step, std::uint32_t total_steps) noexcept {
  if (step < schedule.warmup) return (step + 1.0) / schedule.warmup;
  const double t = progress(schedule, step, total_steps);
  switch (schedule.kind) {
    case schedule_kind::constant:
      return 1;
    case schedule_kind::linear:
      return 1 - (1 - schedule.floor) * t;
    case schedule_kind::cosine:
      return schedule.floor + (1 - schedule.floor) * (1 + std::cos(std::numbers::pi * t)) / 2;
  }
  return 1;
}

}  // namespace hydra
