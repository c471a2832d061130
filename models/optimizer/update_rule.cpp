#include "models/optimizer/update_rule.hpp"

#include "models/optimizer/adafactor_update.hpp"
#include "models/optimizer/bf16.hpp"
#include "models/optimizer/blockwise_update.hpp"
#include "models/optimizer/muon_update.hpp"
#include "models/optimizer/vector_clones.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace hydra {
namespace {

/// Elements whose new values are still in a core's cache when they are rounded.
constexpr std::size_t rounded_at_once = 1 << 14;

void require(bool holds, const char* what, double value, const char* allowed) {
  if (!holds) refuse(fmt::format("{} is {}; it must be {}", what, value, allowed));
}

bool nonnegative(double x) { return x >= 0 && std::isfinite(x); }
bool fraction(double x) { return x >= 0 && x < 1; }

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

update_loop loop_of(const update_options& o) noexcept {
  if (o.kind == update_kind::adamw) return update_loop::adamw;
  if (o.kind == update_kind::lion) return update_loop::lion;
  if (o.kind == update_kind::adamw8bit) return update_loop::blockwise_adamw;
  if (o.kind == update_kind::muon) return update_loop::muon;
  if (o.kind == update_kind::adafactor) return update_loop::adafactor;
  return o.momentum == 0 ? update_loop::plain_sgd : update_loop::momentum_sgd;
}

sgd_constants constants_of_sgd(const update_options& o, double rate, float clip) {
  return {.clip = clip,
          .decay = static_cast<float>(o.weight_decay),
          .rate = static_cast<float>(rate),
          .momentum = static_cast<float>(o.momentum)};
}

lion_constants constants_of_lion(const update_options& o, double rate, float clip) {
  return {.clip = clip,
          .b1 = static_cast<float>(o.beta1),
          .ob1 = static_cast<float>(1 - o.beta1),
          .b2 = static_cast<float>(o.beta2),
          .ob2 = static_cast<float>(1 - o.beta2),
          .decay = static_cast<float>(1 - rate * o.weight_decay),
          .step = static_cast<float>(-rate)};
}

/// As bitsandbytes: the correction of the second moment is part of the rate and of eps.
blockwise_constants constants_in_blocks(const update_options& o, double rate, std::uint32_t step, float clip) {
  const double t = step + 1.0, root = std::sqrt(1 - std::pow(o.beta2, t));
  return {.clip = clip,
          .b1 = static_cast<float>(o.beta1),
          .ob1 = static_cast<float>(1 - o.beta1),
          .b2 = static_cast<float>(o.beta2),
          .ob2 = static_cast<float>(1 - o.beta2),
          .decay = static_cast<float>(1 - rate * o.weight_decay),
          .step = static_cast<float>(-rate * root / (1 - std::pow(o.beta1, t))),
          .eps = static_cast<float>(root * o.eps)};
}

muon_constants constants_of_muon(const update_options& o, double rate, float clip) {
  return {.clip = clip,
          .complement = static_cast<float>(1 - o.momentum),
          .decay = static_cast<float>(1 - rate * o.weight_decay),
          .rate = rate,
          .nesterov = o.nesterov,
          .match_rms = o.adjustment == rate_adjustment::match_rms_adamw};
}

/// Nothing is kept of what the first step finds.
adafactor_constants constants_of_adafactor(const update_options& o, double rate, std::uint32_t step, float clip) {
  const double kept = 1 - std::pow(step + 1.0, -o.decay_rate);
  return {.clip = clip,
          .kept = static_cast<float>(kept),
          .complement = static_cast<float>(1 - kept),
          .eps = static_cast<float>(o.eps),
          .threshold = static_cast<float>(o.clip_threshold),
          .decay = static_cast<float>(1 - rate * o.weight_decay),
          .rate = static_cast<float>(rate)};
}

HYDRA_VECTOR_CLONES void adamw_loop(const adamw_constants& c, std::size_t n, float* __restrict p,
                                    const float* __restrict grad, float* __restrict m, float* __restrict v) {
  for (std::size_t i = 0; i < n; ++i) adamw_element(c, p[i], grad[i], m[i], v[i]);
}

HYDRA_VECTOR_CLONES void plain_sgd_loop(const sgd_constants& c, std::size_t n, float* __restrict p,
                                        const float* __restrict grad) {
  for (std::size_t i = 0; i < n; ++i) plain_sgd_element(c, p[i], grad[i]);
}

/// `b` is uninitialised for the first step, which must not read it.
HYDRA_VECTOR_CLONES void momentum_sgd_loop(const sgd_constants& c, bool first, bool nesterov, std::size_t n,
                                           float* __restrict p, const float* __restrict grad, float* __restrict b) {
  for (std::size_t i = 0; i < n; ++i) momentum_sgd_element(c, first, nesterov, p[i], grad[i], b[i]);
}

HYDRA_VECTOR_CLONES void lion_loop(const lion_constants& c, std::size_t n, float* __restrict p,
                                   const float* __restrict grad, float* __restrict m) {
  for (std::size_t i = 0; i < n; ++i) lion_element(c, p[i], grad[i], m[i]);
}

void apply_rule(const update_constants& c, const update_slices& s) {
  const std::size_t n = s.parameters.size();
  float* const p = s.parameters.data();
  const float* const g = s.gradients.data();
  switch (c.rule) {
    case update_loop::adamw:
      return adamw_loop(c.adamw, n, p, g, s.first_moment.data(), s.second_moment.data());
    case update_loop::plain_sgd:
      return plain_sgd_loop(c.sgd, n, p, g);
    case update_loop::momentum_sgd:
      return momentum_sgd_loop(c.sgd, c.first_step, c.nesterov, n, p, g, s.first_moment.data());
    case update_loop::lion:
      return lion_loop(c.lion, n, p, g, s.first_moment.data());
    case update_loop::blockwise_adamw:
      return apply_blockwise_adamw(c.blockwise, s.parameters, s.gradients, s.first_blocks, s.second_blocks);
    case update_loop::muon:
      return apply_muon(c.muon, s.matrix, s.parameters, s.gradients, s.first_moment);
    case update_loop::adafactor:
      return apply_adafactor(c.adafactor, s.matrix, s.parameters, s.gradients, {s.first_moment, s.second_moment});
  }
}

bool fits(const block_moment& m, std::size_t n) { return m.codes.size() == n && m.largest.size() == moment_blocks(n); }

bool moments_fit(update_loop rule, const update_slices& s) {
  const std::size_t n = s.parameters.size(), first = s.first_moment.size(), second = s.second_moment.size();
  if (rule == update_loop::blockwise_adamw) return fits(s.first_blocks, n) && fits(s.second_blocks, n);
  if (rule == update_loop::adafactor && second > 0) return first == s.matrix.rows && second == s.matrix.columns;
  if (rule == update_loop::adafactor) return first == n;
  return (moments_of(rule) < 1 || first == n) && (moments_of(rule) < 2 || second == n);
}

void check_lengths(const update_constants& c, const update_slices& s) {
  const std::size_t n = s.parameters.size();
  const bool whole = !steps_whole(c.rule) || s.matrix.rows * s.matrix.columns == n;
  if (s.gradients.size() != n || (!s.copy.empty() && s.copy.size() != n) || !whole || !moments_fit(c.rule, s))
    throw fault_error{
        fault_code::internal,
        fmt::format("update of {} parameters ({} x {}) with {} gradients, {} + {} moments, {} + {} moments in blocks "
                    "and a copy of {}",
                    n, s.matrix.rows, s.matrix.columns, s.gradients.size(), s.first_moment.size(),
                    s.second_moment.size(), s.first_blocks.codes.size(), s.second_blocks.codes.size(), s.copy.size())};
}

/// The options that the rule has.
template <class Options>
update_options options_for(update_kind kind, const Options& given) {
  update_options o{.kind = kind, .learning_rate = given.learning_rate, .weight_decay = given.weight_decay};
  o.clip_norm = given.clip_norm;
  if constexpr (requires { given.beta1; }) {
    o.beta1 = given.beta1;
    o.beta2 = given.beta2;
  }
  if constexpr (requires { given.eps; }) o.eps = given.eps;
  if constexpr (requires { given.momentum; }) {
    o.momentum = given.momentum;
    o.nesterov = given.nesterov;
  }
  return o;
}

}  // namespace

update_options adamw(const adamw_options& options) { return options_for(update_kind::adamw, options); }
update_options adamw8bit(const adamw_options& options) { return options_for(update_kind::adamw8bit, options); }
update_options sgd(const sgd_options& options) { return options_for(update_kind::sgd, options); }
update_options lion(const lion_options& options) { return options_for(update_kind::lion, options); }

update_options muon(const muon_options& options) {
  update_options o = options_for(update_kind::muon, options);
  o.adjustment = options.adjustment;
  o.adamw_learning_rate = options.adamw_learning_rate;
  return o;
}

update_options adafactor(const adafactor_options& options) {
  update_options o = options_for(update_kind::adafactor, options);
  o.decay_rate = options.decay_rate;
  o.clip_threshold = options.clip_threshold;
  return o;
}

std::string to_string(update_kind kind) {
  static constexpr std::array names{"adamw", "sgd", "lion", "adamw8bit", "muon", "adafactor"};  // in its order
  return names.at(static_cast<std::size_t>(kind));
}

void validate(const learning_schedule& s) {
  require(s.floor >= 0 && s.floor <= 1, "floor", s.floor, "between 0 and 1");
  require(fraction(s.warmup_ratio), "warmup_ratio", s.warmup_ratio, "at least 0 and below 1");
  require(s.warmup == 0 || s.warmup_ratio == 0, "warmup_ratio", s.warmup_ratio, "0 with warmup steps");
  require(s.decay_ratio > 0 && s.decay_ratio <= 1, "decay_ratio", s.decay_ratio, "above 0 and at most 1");
  require(s.kind != schedule_kind::wsd || s.warmup_ratio + s.decay_ratio <= 1, "warmup_ratio + decay_ratio",
          s.warmup_ratio + s.decay_ratio, "at most 1");
  require(s.cycles >= 1, "cycles", s.cycles, "at least 1");
}

namespace {

void validate(const parameter_group& g) {
  if (g.parameters.empty()) refuse("a group has no parameters; name them by patterns, such as \"*.bias\"");
  const double rate = g.learning_rate.value_or(0), decay = g.weight_decay.value_or(0);
  require(nonnegative(rate), "learning_rate of a group", rate, "at least 0 and finite");
  require(nonnegative(decay), "weight_decay of a group", decay, "at least 0 and finite");
}

}  // namespace

void validate(const update_options& o) {
  require(nonnegative(o.learning_rate), "learning_rate", o.learning_rate, "at least 0 and finite");
  require(nonnegative(o.weight_decay), "weight_decay", o.weight_decay, "at least 0 and finite");
  require(fraction(o.beta1), "the first of betas", o.beta1, "at least 0 and below 1");
  require(fraction(o.beta2), "the second of betas", o.beta2, "at least 0 and below 1");
  require(nonnegative(o.eps), "eps", o.eps, "at least 0 and finite");
  require(o.kind != update_kind::adafactor || static_cast<float>(o.eps) > 0, "eps", o.eps, "above 0 in fp32");
  require(nonnegative(o.momentum), "momentum", o.momentum, "at least 0 and finite");
  require(!o.nesterov || o.momentum > 0, "momentum", o.momentum, "positive with nesterov");
  require(nonnegative(o.clip_norm), "clip_norm", o.clip_norm, "at least 0 (0 = off) and finite");
  require(o.kind != update_kind::muon || fraction(o.momentum), "momentum", o.momentum, "at least 0 and below 1");
  require(nonnegative(o.adamw_learning_rate.value_or(0)), "adamw_learning_rate", o.adamw_learning_rate.value_or(0),
          "at least 0 and finite");
  require(o.decay_rate > 0 && o.decay_rate <= 1, "decay_rate", o.decay_rate, "above 0 and at most 1");
  require(o.clip_threshold > 0 && std::isfinite(o.clip_threshold), "clip_threshold", o.clip_threshold,
          "above 0 and finite");
  for (const parameter_group& g : o.groups) validate(g);
}

bool is_elementwise(update_kind kind) noexcept { return is_elementwise(loop_of({.kind = kind})); }

int moment_buffers(const update_options& options) noexcept {
  return is_elementwise(options.kind) ? moments_of(loop_of(options)) : 2;
}

update_constants constants_of(const update_options& options, std::uint32_t step, std::uint32_t total_steps,
                              float clip_coefficient) {
  const double rate = options.learning_rate * schedule_factor(options.schedule, step, total_steps);
  update_constants c{.rule = loop_of(options), .first_step = step == 0, .nesterov = options.nesterov};
  switch (options.kind) {
    case update_kind::adamw:
      c.adamw = constants(options, rate, step, clip_coefficient);
      break;
    case update_kind::sgd:
      c.sgd = constants_of_sgd(options, rate, clip_coefficient);
      break;
    case update_kind::lion:
      c.lion = constants_of_lion(options, rate, clip_coefficient);
      break;
    case update_kind::adamw8bit:
      c.blockwise = constants_in_blocks(options, rate, step, clip_coefficient);
      break;
    case update_kind::muon:
      c.muon = constants_of_muon(options, rate, clip_coefficient);
      break;
    case update_kind::adafactor:
      c.adafactor = constants_of_adafactor(options, rate, step, clip_coefficient);
      break;
  }
  return c;
}

update_slices part_of(const update_slices& s, std::size_t begin, std::size_t n) {
  const auto cut = [&](auto span) { return span.empty() ? span : span.subspan(begin, n); };
  return {cut(s.parameters),
          cut(s.gradients),
          cut(s.first_moment),
          cut(s.second_moment),
          cut(s.copy),
          part_of(s.first_blocks, begin, n),
          part_of(s.second_blocks, begin, n)};
}

void apply_update(const update_constants& constants, const update_slices& slices) {
  check_lengths(constants, slices);
  if (slices.copy.empty()) return apply_rule(constants, slices);
  const std::size_t n = slices.parameters.size();
  if (steps_whole(constants.rule)) {
    apply_rule(constants, slices);
    return to_bf16(slices.parameters, slices.copy);
  }
  for (std::size_t begin = 0; begin < n; begin += rounded_at_once) {
    const update_slices part = part_of(slices, begin, std::min(rounded_at_once, n - begin));
    apply_rule(constants, part);
    to_bf16(part.parameters, part.copy);
  }
}

void apply_update(const update_options& options, std::uint32_t step, std::uint32_t total_steps, float clip_coefficient,
                  const update_slices& slices) {
  apply_update(constants_of(options, step, total_steps, clip_coefficient), slices);
}

}  // namespace hydra
