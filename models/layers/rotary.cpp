#include "models/layers/rotary.hpp"

#include "models/layers/checks.hpp"
#include "models/small_constant.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/IListRef.h>
#include <ATen/core/IListRef_inl.h>
#include <ATen/ops/arange_ops.h>
#include <ATen/ops/cat_ops.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/pow_ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <numbers>

namespace hydra {
namespace {

constexpr std::int64_t largest_size = 65'536;  // a file from an unknown source must not make tables of any size

void require_above_zero(const char* what, double value) {
  if (!(value > 0)) refuse(fmt::format("rotary positions: {} is {}; it must be positive", what, value));
}

void check_factors(const rotary_options& options) {
  const auto& factors = options.scaling.factors;
  if (std::ssize(factors) != options.size / 2)
    refuse(fmt::format("rotary positions: longrope scaling has {} factors for {} pairs of features", factors.size(),
                       options.size / 2));
  for (const double factor : factors) require_above_zero("a factor of longrope scaling", factor);
  require_above_zero("the magnitude", options.scaling.magnitude);
}

void check(const rotary_options& options) {
  require_positive("rotary positions: size of a head", options.size);
  if (options.size > largest_size)
    refuse(fmt::format("rotary positions: {} features of a head; at most {}", options.size, largest_size));
  if (options.size % 2 != 0)
    refuse(fmt::format("rotary positions pair the features of a head; its size {} is odd", options.size));
  require_above_zero("theta", options.theta);
  require_above_zero("the factor of the scaling", options.scaling.factor);
  if (options.scaling.how == rope_scaling::kind::longrope) check_factors(options);
  if (options.scaling.how != rope_scaling::kind::llama3) return;
  require_positive("rotary positions: original context of llama3 scaling", options.scaling.original_context);
  require_above_zero("the low frequency factor", options.scaling.low_frequency_factor);
  if (options.scaling.high_frequency_factor <= options.scaling.low_frequency_factor)
    refuse(fmt::format("rotary positions: the high frequency factor {} of llama3 scaling must be above the low one, {}",
                       options.scaling.high_frequency_factor, options.scaling.low_frequency_factor));
}

/// theta^(2i/size), by ATen's power as transformers has it: wavelengths of the pairs over 2 pi.
std::vector<float> wavelengths(const rotary_options& options) {
  const at::Tensor even = at::_ops::arange_start_step::call(0, options.size, 2, at::kFloat, {}, {}, {});
  const at::Tensor powers = at::_ops::pow_Scalar::call(options.theta, even.div(static_cast<double>(options.size)));
  return {powers.const_data_ptr<float>(), powers.const_data_ptr<float>() + powers.numel()};
}

/// Llama 3.1's scaling: long waves are stretched fully, short ones not at all, in between a blend.
float llama3_frequency(float frequency, const rope_scaling& scaling) {
  const auto factor = static_cast<float>(scaling.factor);
  const auto original = static_cast<float>(scaling.original_context);
  const float wave = static_cast<float>(2 * std::numbers::pi) / frequency;
  if (wave < static_cast<float>(scaling.original_context / scaling.high_frequency_factor)) return frequency;
  if (wave > static_cast<float>(scaling.original_context / scaling.low_frequency_factor)) return frequency / factor;
  const float smooth = (original / wave - static_cast<float>(scaling.low_frequency_factor)) /
                       static_cast<float>(scaling.high_frequency_factor - scaling.low_frequency_factor);
  return (1 - smooth) * frequency / factor + smooth * frequency;
}

std::vector<float> frequencies_of(const rotary_options& options) {
  const rope_scaling& scaling = options.scaling;
  std::vector<float> all = wavelengths(options);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (scaling.how == rope_scaling::kind::longrope) all[i] *= static_cast<float>(scaling.factors[i]);
    all[i] = 1 / all[i];
    if (scaling.how == rope_scaling::kind::linear) all[i] /= static_cast<float>(scaling.factor);
    if (scaling.how == rope_scaling::kind::llama3) all[i] = llama3_frequency(all[i], scaling);
  }
  return all;
}

}  // namespace

at::Tensor consecutive_positions(std::int64_t first, std::int64_t tokens, const at::Tensor& like) {
  return at::_ops::arange_start::call(first, first + tokens, at::kFloat, {}, like.device(), {});
}

rotary::rotary(const rotary_options& options) : magnitude_{options.scaling.magnitude} {
  check(options);
  frequencies_ = frequencies_of(options);
}

rotary_turns rotary::turns_at(const at::Tensor& positions, const at::Tensor& like) const {
  const auto pairs = static_cast<std::int64_t>(frequencies_.size());
  const at::Tensor each = at::from_blob(const_cast<float*>(frequencies_.data()), {pairs}, at::kFloat);
  const at::Tensor tokens = (positions.dim() == 2 ? positions.unsqueeze(1) : positions).unsqueeze(-1).to(at::kFloat);
  const at::Tensor angles = tokens.mul(small_constant(each, like));
  return {angles.cos().mul(magnitude_).to(like.scalar_type()), angles.sin().mul(magnitude_).to(like.scalar_type())};
}

at::Tensor rotated(const at::Tensor& x, const rotary_turns& turns) {
  const auto& [cosines, sines] = turns;
  const std::int64_t half = cosines.size(-1);
  const at::Tensor a = x.narrow(3, 0, half), b = x.narrow(3, half, half);
  std::vector<at::Tensor> turned{a.mul(cosines).sub(b.mul(sines)), b.mul(cosines).add(a.mul(sines))};
  if (x.size(3) > 2 * half) turned.push_back(x.narrow(3, 2 * half, x.size(3) - 2 * half));
  return at::_ops::cat::call(at::ITensorListRef{turned}, 3);
}

}  // namespace hydra
