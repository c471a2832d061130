#include "partition/profile/contract.hpp"

#include "models/chain_loss.hpp"
#include "models/layer_name.hpp"
#include "models/layer_values.hpp"
#include "models/parameter_layout.hpp"
#include "models/row_chunks.hpp"
#include "models/scalar_type.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

namespace {

at::Tensor all_zeros(const tensor_spec& spec, const std::string& torch_device) {
  return at::_ops::zeros::call(c10::fromIntArrayRefSlow(spec.shape), scalar_type(spec.type), std::nullopt,
                               at::Device(torch_device), std::nullopt);
}

/// Values in [least, least + spread) that repeat only after a prime number of elements, so that neither a norm nor a
/// random mask is invisible. Zeros for what is not a number: the first class, the first token.
at::Tensor varied(const tensor_spec& spec, float least, float spread, const std::string& torch_device) {
  constexpr std::int64_t period = 251;
  const at::Tensor t = all_zeros(spec, torch_device);
  if (spec.type == element::i64 || spec.type == element::bits || t.numel() == 0) return t;
  const at::Tensor pattern = all_zeros({{period}, element::f32}, "cpu");
  for (std::int64_t i = 0; i < period; ++i) {
    const auto share = static_cast<float>(i * 97 % period) / static_cast<float>(period);
    pattern.mutable_data_ptr<float>()[i] = least + spread * share;
  }
  const at::Tensor flat = t.view({-1}), there = pattern.to(t.options());
  const std::int64_t whole = flat.numel() / period, rest = flat.numel() % period;
  flat.narrow(0, 0, whole * period).view({whole, period}).copy_(there.expand({whole, period}));
  flat.narrow(0, whole * period, rest).copy_(there.narrow(0, 0, rest));
  return t;
}

/// On the host, because NaN is equal to itself here.
bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.cpu().contiguous(), y = b.cpu().contiguous();
  return x.scalar_type() == y.scalar_type() && x.sizes() == y.sizes() &&
         std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

/// One layer on few samples.
struct layer_trial {
  std::size_t index = 0;
  tensor_spec in, out;
};

/// Of the last layer of a chain whose loss is computed in chunks: few rows.
void take_rows(layer_trial& trial) {
  const auto rows = std::min<std::int64_t>(2, rows_of(trial.in));
  for (auto* spec : {&trial.in, &trial.out}) *spec = {{1, rows, spec->shape.back()}, spec->type};
}

/// None for a chain that does not take so few samples.
std::vector<layer_trial> distinct_trials(const chain& model, std::int64_t samples) try {
  std::set<std::string> known;
  std::vector<layer_trial> trials;
  const auto inputs = model.inputs(samples), outputs = model.outputs(samples);
  for (std::size_t i = 0; i < model.size(); ++i) {
    if (known.insert(model.signature(i) + " on " + to_string(inputs[i])).second)
      trials.push_back({i, inputs[i], outputs[i]});
  }
  if (model.loss_chunk() > 0 && trials.back().index + 1 == model.size()) take_rows(trials.back());
  return trials;
} catch (...) {
  return {};
}

void check_shape(const chain& model, const layer_trial& trial, const at::Tensor& y) {
  const auto found = to_string(y), expected = to_string(trial.out);
  if (found == expected) return;
  refuse(fmt::format("{}: forward() of {} returns {}, but output() says {}: correct one of them",
                     layer_name(model, trial.index), to_string(trial.in), found, expected));
}

/// Its output, twice; none if it throws.
std::vector<at::Tensor> outputs_of(const chain& model, const layer_trial& trial, const measurement_context& on) try {
  const at::NoGradGuard no_grad;
  const parameter_layout layout(model, trial.index, trial.index + 1);
  const at::Tensor flat =
      varied({{static_cast<std::int64_t>(layout.elements())}, layout.type()}, 0.01F, 0.04F, on.torch_device);
  const auto base = static_cast<std::int64_t>(layout.base_bytes().value() / sizeof(std::int64_t));
  const at::Tensor frozen = all_zeros({{base}, element::i64}, on.torch_device).view(at::kByte);
  const layer_values values(layout, flat, frozen, trial.index);
  const at::Tensor x = varied(trial.in, 0.25F, 0.5F, on.torch_device);
  const layer_context context{.seed = 1, .layer = static_cast<std::uint32_t>(trial.index)};
  const auto memory = std::make_shared<widening>();
  std::vector<at::Tensor> both;
  for (int i = 0; i < 2; ++i)
    both.push_back(compute_layer_forward(model, trial.index, values, x, context, memory).cpu());
  return both;
} catch (...) {
  return {};
}

void check_layer(const chain& model, const layer_trial& trial, const measurement_context& on) {
  const auto both = outputs_of(model, trial, on);
  if (both.empty()) return;
  check_shape(model, trial, both[0]);
  if (same_bits(both[0], both[1])) return;
  refuse(fmt::format(
      "{}: forward() of the same {} and parameters, with the same seed, step and micro-batch, returns other "
      "bits the second time. A visit is computed again for gradients, after failures and on other devices, "
      "so forward() must be a pure function of its arguments: key random numbers with the layer_context "
      "(models/dropout.hpp does), and keep no state in the layer",
      layer_name(model, trial.index), to_string(trial.in)));
}

/// The first dimension is that of samples; of a chunk, the second is that of rows.
struct loss_trial {
  tensor_spec output, targets;
};

/// One sample and two, or one row and two; none for an output that has no dimension of samples, such as a loss.
std::optional<std::pair<loss_trial, loss_trial>> loss_trials(const chain& model, const tensor_spec& sample_target) try {
  const tensor_spec one = model.outputs(1).back(), two = model.outputs(2).back();
  if (model.loss_chunk() > 0) {
    const auto rows = [&](std::int64_t n) {
      return loss_trial{{{1, n, one.shape.back()}, one.type}, {{1, n}, sample_target.type}};
    };
    return std::pair{rows(1), rows(2)};
  }
  auto doubled = one;
  if (!doubled.shape.empty()) doubled.shape.front() *= 2;
  if (one.shape.empty() || one.shape.front() != 1 || two != doubled) return std::nullopt;
  return std::pair{loss_trial{one, batched(sample_target, 1)}, loss_trial{two, batched(sample_target, 2)}};
} catch (...) {
  return std::nullopt;
}

double trial_loss(const chain& model, const at::Tensor& output, const tensor_spec& targets,
                  const std::string& torch_device) {
  const at::Tensor sum = summed_loss(model, output, all_zeros(targets, torch_device));
  return sum.to(at::kDouble).cpu().const_data_ptr<double>()[0];
}

/// The same output once and twice: sums differ by a factor of 2, whatever the targets weigh. A loss that is not a sum
/// over samples (a contrastive one) has neither the same value nor a verdict.
void check_loss(const chain& model, const std::pair<loss_trial, loss_trial>& trials, const std::string& torch_device) {
  double once = 0, twice = 0;
  try {
    const at::NoGradGuard no_grad;
    const at::Tensor y = varied(trials.first.output, 0.1F, 0.8F, torch_device);
    once = trial_loss(model, y, trials.first.targets, torch_device);
    twice = trial_loss(model, y.expand(trials.second.output.shape).contiguous(), trials.second.targets, torch_device);
  } catch (...) {
    return;
  }
  constexpr double tolerance = 0.01;  // far more than the order of a sum can change
  if (!std::isfinite(once) || once == 0 || std::abs(twice - once) > tolerance * std::abs(once)) return;
  refuse(fmt::format(
      "loss \"{}\" of chain \"{}\": sum() of one sample is {:.6g}, and of two such samples {:.6g}: it returns a "
      "mean. What it returns is divided by the number of a step's targets, so return the sum over all targets: "
      "at::Reduction::Sum, or .sum() instead of .mean()",
      model.objective().name(), model.family(), once, twice));
}

}  // namespace

void check_contract(const chain& model, const profiled_step& step, const measurement_context& on) {
  constexpr std::int64_t enough = 2;  // a batch norm needs more than one
  const auto layers = distinct_trials(model, std::min(step.samples, enough));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (step.progress) step.progress("checking", layers[i].index, i + 1, layers.size());
    check_layer(model, layers[i], on);
  }
  if (const auto losses = loss_trials(model, step.sample_target)) check_loss(model, *losses, on.torch_device);
}

}  // namespace hydra
