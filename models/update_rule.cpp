#include "models/update_rule.hpp"

#include "models/bf16.hpp"
#include "models/vector_clones.hpp"
#include "runtime/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hydra {
namespace {

/// Elements whose new values are still in a core's cache when they are rounded.
constexpr std::size_t rounded_at_once = 1 << 14;

void require(bool holds, const char* what, double value, const char* allowed) {
  if (!holds)
    throw fault_error{fault_code::bad_input, fmt::format("optimizer: {} is {}; it must be {}", what, value, allowed)};
}

bool nonnegative(double x) { return x >= 0 && std::isfinite(x); }
bool fraction(double x) { return x >= 0 && x < 1; }

/// Constants of one step, in double and then cast once, as at::_fused_adamw_ does.
struct adamw_constants {
  float clip, ob1, ob2, b2, decay, step, sbc2, eps;
};

adamw_constants constants(const update_options& o, double rate, std::uint32_t step, float clip) {
  const double t = step + 1.0;
  return {.clip = clip,
          .ob1 = static_cast<float>(1 - o.beta1),
          .ob2 = static_cast<float>(1 - o.beta2),
          .b2 = static_cast<float>(o.beta2),
          .decay = static_cast<float>(1 - rate * o.weight_decay),
          .step = static_cast<float>(-rate / (1 - std::pow(o.beta1, t))),
          .sbc2 = static_cast<float>(std::sqrt(1 - std::pow(o.beta2, t))),
          .eps = static_cast<float>(o.eps)};
}

HYDRA_VECTOR_CLONES void adamw_loop(const adamw_constants& c, std::size_t n, float* __restrict p,
                                    const float* __restrict grad, float* __restrict m, float* __restrict v) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = grad[i] * c.clip;
    m[i] = std::fma(c.ob1, g - m[i], m[i]);
    v[i] = std::fma(c.ob2 * g, g, v[i] * c.b2);
    p[i] = p[i] * c.decay + (c.step * m[i]) / (std::sqrt(v[i]) / c.sbc2 + c.eps);
  }
}

struct sgd_constants {
  float clip, decay, rate, momentum;
  bool nesterov;
};

HYDRA_VECTOR_CLONES void plain_sgd_loop(const sgd_constants& c, std::size_t n, float* __restrict p,
                                        const float* __restrict grad) {
  for (std::size_t i = 0; i < n; ++i) p[i] = std::fma(-c.rate, std::fma(c.decay, p[i], grad[i] * c.clip), p[i]);
}

/// `b` holds zeros before the first step, which the first step must not read: its momentum is the gradient itself.
HYDRA_VECTOR_CLONES void momentum_sgd_loop(const sgd_constants& c, bool first, std::size_t n, float* __restrict p,
                                           const float* __restrict grad, float* __restrict b) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = std::fma(c.decay, p[i], grad[i] * c.clip);
    b[i] = first ? g : b[i] * c.momentum + g;
    p[i] = std::fma(-c.rate, c.nesterov ? std::fma(c.momentum, b[i], g) : b[i], p[i]);
  }
}

void apply_adamw(const update_options& o, double rate, std::uint32_t step, float clip, const update_slices& s) {
  adamw_loop(constants(o, rate, step, clip), s.parameters.size(), s.parameters.data(), s.gradients.data(),
             s.first_moment.data(), s.second_moment.data());
}

void apply_sgd(const update_options& o, double rate, std::uint32_t step, float clip, const update_slices& s) {
  const sgd_constants c{.clip = clip,
                        .decay = static_cast<float>(o.weight_decay),
                        .rate = static_cast<float>(rate),
                        .momentum = static_cast<float>(o.momentum),
                        .nesterov = o.nesterov};
  const std::size_t n = s.parameters.size();
  if (o.momentum == 0) return plain_sgd_loop(c, n, s.parameters.data(), s.gradients.data());
  momentum_sgd_loop(c, step == 0, n, s.parameters.data(), s.gradients.data(), s.first_moment.data());
}

void check_lengths(const update_options& o, const update_slices& s) {
  const std::size_t n = s.parameters.size();
  const int moments = moment_buffers(o);
  if (s.gradients.size() != n || (moments > 0 && s.first_moment.size() != n) ||
      (moments > 1 && s.second_moment.size() != n) || (!s.copy.empty() && s.copy.size() != n))
    throw fault_error{fault_code::internal,
                      fmt::format("update of {} parameters with {} gradients, {} + {} moments and a copy of {}", n,
                                  s.gradients.size(), s.first_moment.size(), s.second_moment.size(), s.copy.size())};
}

void apply_rule(const update_options& o, double rate, std::uint32_t step, float clip, const update_slices& s) {
  if (o.kind == update_kind::adamw) return apply_adamw(o, rate, step, clip, s);
  apply_sgd(o, rate, step, clip, s);
}

update_slices part_of(const update_slices& s, std::size_t begin, std::size_t n) {
  const auto cut = [&](auto span) { return span.empty() ? span : span.subspan(begin, n); };
  return {cut(s.parameters), cut(s.gradients), cut(s.first_moment), cut(s.second_moment), cut(s.copy)};
}

}  // namespace

update_options adamw(const adamw_options& options) {
  return {.kind = update_kind::adamw,
          .learning_rate = options.learning_rate,
          .weight_decay = options.weight_decay,
          .beta1 = options.beta1,
          .beta2 = options.beta2,
          .eps = options.eps,
          .clip_norm = options.clip_norm};
}

update_options sgd(const sgd_options& options) {
  return {.kind = update_kind::sgd,
          .learning_rate = options.learning_rate,
          .weight_decay = options.weight_decay,
          .momentum = options.momentum,
          .nesterov = options.nesterov,
          .clip_norm = options.clip_norm};
}

void validate(const update_options& o) {
  require(nonnegative(o.learning_rate), "learning_rate", o.learning_rate, "at least 0 and finite");
  require(nonnegative(o.weight_decay), "weight_decay", o.weight_decay, "at least 0 and finite");
  require(fraction(o.beta1), "the first of betas", o.beta1, "at least 0 and below 1");
  require(fraction(o.beta2), "the second of betas", o.beta2, "at least 0 and below 1");
  require(nonnegative(o.eps), "eps", o.eps, "at least 0 and finite");
  require(nonnegative(o.momentum), "momentum", o.momentum, "at least 0 and finite");
  require(!o.nesterov || o.momentum > 0, "momentum", o.momentum, "positive with nesterov");
  require(nonnegative(o.clip_norm), "clip_norm", o.clip_norm, "at least 0 (0 = off) and finite");
  require(o.schedule.floor >= 0 && o.schedule.floor <= 1, "schedule floor", o.schedule.floor, "between 0 and 1");
}

int moment_buffers(const update_options& options) noexcept {
  if (options.kind == update_kind::adamw) return 2;
  return options.momentum == 0 ? 0 : 1;
}

void apply_update(const update_options& options, std::uint32_t step, std::uint32_t total_steps, float clip_coefficient,
                  const update_slices& slices) {
  check_lengths(options, slices);
  const double rate = options.learning_rate * schedule_factor(options.schedule, step, total_steps);
  if (slices.copy.empty()) return apply_rule(options, rate, step, clip_coefficient, slices);
  const std::size_t n = slices.parameters.size();
  for (std::size_t begin = 0; begin < n; begin += rounded_at_once) {
    const update_slices part = part_of(slices, begin, std::min(rounded_at_once, n - begin));
    apply_rule(options, rate, step, clip_coefficient, part);
    to_bf16(part.parameters, part.copy);
  }
}

}  // namespace hydra
