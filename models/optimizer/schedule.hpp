#pragma once
// Learning-rate schedules.

#include <cstdint>

namespace hydra {

enum class schedule_kind : std::uint8_t { constant, linear, cosine, wsd, cosine_restarts, inverse_sqrt };

/// Factor of the learning rate: after the warm-up
/// * constant;
/// * linear, cosine: along a line, or half a cosine, down to `floor` (a fraction of the rate) at the last step;
/// * wsd (warm-up, stable, decay): constant, then along a line to `floor` at the last step, in `decay_ratio` of all
/// steps;
/// * cosine_restarts: `cycles` times half a cosine from the rate towards `floor`, as transformers'
///   cosine_with_restarts, which reaches `floor` in no step: the last of the n steps of a cycle has floor + (1 - floor)
///   * (1 + cos(pi * (n - 1) / n)) / 2;
/// * inverse_sqrt: sqrt(w / n) at step n (from 0) for a warm-up of w steps, and without one sqrt(10000 / (n + 10000)),
///   as transformers'.
///
/// The warm-up of w steps rises along a line from 1/w at the first step to 1 at step w - 1 (from 0); transformers' is a
/// step behind: it starts with 0.
struct learning_schedule {
  schedule_kind kind = schedule_kind::constant;
  std::uint32_t warmup = 0;  ///< steps
  double warmup_ratio = 0;   ///< instead: share of all steps, rounded up
  double floor = 0;
  double decay_ratio = 0.1;  ///< of wsd: share of all steps, rounded up
  std::uint32_t cycles = 1;  ///< of cosine_restarts
};

/// Steps of the warm-up.
std::uint32_t warmup_steps(const learning_schedule& schedule, std::uint32_t total_steps) noexcept;

/// Throws fault_error{bad_input} for a schedule that so many steps cannot hold: a warm-up longer than they are, one
/// that reaches into the decay of wsd, more cycles of cosine_restarts than steps after it.
void check_steps(const learning_schedule& schedule, std::uint32_t total_steps);

/// Factor of the learning rate for step `step` (from 0) of `total_steps`.
double schedule_factor(const learning_schedule& schedule, std::uint32_t step, std::uint32_t total_steps) noexcept;

}  // namespace hydra
