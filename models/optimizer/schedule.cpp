#include "models/optimizer/schedule.hpp"

#include "runtime/base/counted.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hydra {
namespace {

/// Steps as numbers that cannot wrap around; step 0 is the first one.
struct moment {
  double step, warmup, total;
};

double steps_in(double share, double total_steps) noexcept { return std::ceil(share * total_steps); }

/// 0 at step `first`, 1 at the last step.
double progress(const moment& now, double first) noexcept {
  const double length = now.total - 1 - first;
  return length <= 0 ? 1 : std::clamp((now.step - first) / length, 0.0, 1.0);
}

double falling(double floor, double share) noexcept { return 1 - (1 - floor) * share; }

double half_cosine(double floor, double share) noexcept {
  return floor + (1 - floor) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

/// Each cycle starts anew; the one after the last would start where the steps end.
double restarting(const learning_schedule& schedule, const moment& now) noexcept {
  const double share = (now.step - now.warmup) / std::max(1.0, now.total - now.warmup);
  return share >= 1 ? schedule.floor : half_cosine(schedule.floor, std::fmod(schedule.cycles * share, 1.0));
}

double inverse_root(const moment& now) noexcept {
  const double scale = now.warmup > 0 ? now.warmup : 10'000;
  return std::sqrt(scale / (now.step - now.warmup + scale));
}

double after_warmup(const learning_schedule& schedule, const moment& now) noexcept {
  switch (schedule.kind) {
    case schedule_kind::constant:
      return 1;
    case schedule_kind::linear:
      return falling(schedule.floor, progress(now, now.warmup));
    case schedule_kind::cosine:
      return half_cosine(schedule.floor, progress(now, now.warmup));
    case schedule_kind::wsd: {
      const double decay = steps_in(schedule.decay_ratio, now.total);
      return falling(schedule.floor, progress(now, std::max(now.warmup, now.total - 1 - decay)));
    }
    case schedule_kind::cosine_restarts:
      return restarting(schedule, now);
    case schedule_kind::inverse_sqrt:
      return inverse_root(now);
  }
  return 1;
}

}  // namespace

std::uint32_t warmup_steps(const learning_schedule& schedule, std::uint32_t total_steps) noexcept {
  if (schedule.warmup_ratio <= 0) return schedule.warmup;
  return static_cast<std::uint32_t>(steps_in(schedule.warmup_ratio, total_steps));
}

void check_steps(const learning_schedule& schedule, std::uint32_t total_steps) {
  const std::uint32_t warmup = warmup_steps(schedule, total_steps);
  if (warmup > total_steps)
    refuse(fmt::format("warmup is {}, but the model is trained for {}; use at most as many, or train for more steps",
                       warmup, counted(total_steps, "step")));
  const double decay = schedule.kind == schedule_kind::wsd ? steps_in(schedule.decay_ratio, total_steps) : 0;
  if (warmup + decay > total_steps)
    refuse(fmt::format(
        "a warm-up of {} and then a decay of {:.0f} (decay_ratio = {:g}, rounded up) are more than the {} that "
        "the model is trained for; make one of them shorter, or train for more steps",
        counted(warmup, "step"), decay, schedule.decay_ratio, counted(total_steps, "step")));
  if (schedule.kind == schedule_kind::cosine_restarts && schedule.cycles > total_steps - warmup)
    refuse(fmt::format(
        "cycles is {}, but the model is trained for {} after the warm-up; use at most as many cycles, or train "
        "for more steps",
        schedule.cycles, counted(total_steps - warmup, "step")));
}

double schedule_factor(const learning_schedule& schedule, std::uint32_t step, std::uint32_t total_steps) noexcept {
  const std::uint32_t warmup = warmup_steps(schedule, total_steps);
  if (step < warmup) return (step + 1.0) / warmup;
  return after_warmup(schedule,
                      {static_cast<double>(step), static_cast<double>(warmup), static_cast<double>(total_steps)});
}

}  // namespace hydra
