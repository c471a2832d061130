#include "partition/profile/update_cost.hpp"

#include "models/optimizer/muon_update.hpp"
#include "models/optimizer/parameter_rule.hpp"
#include "models/optimizer/tensor_update.hpp"
#include "partition/profile/profile.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_ops.h>

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace hydra {

duration element_rate::time_for(std::size_t elements) const noexcept {
  return per_second_ > 0 ? from_seconds(static_cast<double>(elements) / per_second_) : duration{};
}

namespace {

constexpr std::size_t elements = 1 << 20;
constexpr std::uint32_t repeats = 5;
/// Steps between two readings of a device's clock: one reading may take as long as a step.
constexpr std::uint32_t steps_at_once = 16;

/// The first one touches the pages.
element_rate rate_of(std::vector<duration> times, std::size_t work) {
  times.erase(times.begin());
  return element_rate{static_cast<double>(work) / seconds(median(std::move(times)))};
}

at::Tensor zeros(at::ScalarType type, const std::string& device) {
  return at::_ops::zeros::call(c10::SymIntArrayRef{c10::SymInt(elements)}, type, std::nullopt, at::Device(device),
                               std::nullopt);
}

element_rate timed(const update_options& rule, const update_slices& slices, std::size_t work) {
  std::vector<duration> times;
  for (std::uint32_t step = 0; step <= repeats; ++step) {
    const auto start = steady_clock::now();
    apply_update(rule, step, repeats + 1, 1.0F, slices);
    times.push_back(steady_clock::now() - start);
  }
  return rate_of(std::move(times), work);
}

element_rate measure_elements(const update_options& rule, precision numbers) {
  std::vector<float> parameters(elements), gradients(elements, 1e-3F), first(elements), second(elements);
  const bool in_blocks = rule.kind == update_kind::adamw8bit;
  const std::vector<std::int64_t> matrix{1 << 10, elements >> 10};
  const auto moments = in_blocks ? std::array<std::size_t, 2>{} : moment_values(rule.kind, {.shape = matrix});
  const auto values = [&](std::vector<float>& moment, int i) {
    return std::span(moment).first(moment_buffers(rule) > i ? moments[static_cast<std::size_t>(i)] : 0);
  };
  std::vector<std::uint8_t> codes(in_blocks ? 2 * elements : 0);
  std::vector<float> largest(in_blocks ? 2 * moment_blocks(elements) : 0);
  const auto blocks = [&](std::size_t i) {
    const std::size_t n = codes.size() / 2, scales = largest.size() / 2;
    return block_moment{std::span(codes).subspan(i * n, n), std::span(largest).subspan(i * scales, scales)};
  };
  std::vector<std::uint16_t> copy(numbers == precision::bf16 ? elements : 0);
  return timed(rule,
               {.parameters = parameters,
                .gradients = gradients,
                .first_moment = values(first, 0),
                .second_moment = values(second, 1),
                .copy = copy,
                .first_blocks = blocks(0),
                .second_blocks = blocks(1),
                .matrix = matrix_size_of({.shape = matrix})},
               elements);
}

/// Its products take nearly all of the time.
element_rate measure_products(const update_options& rule) {
  constexpr std::size_t side = 512;
  const matrix_size size{side, side};
  std::vector<float> parameters(side * side), gradients(side * side), momentum(side * side);
  std::ranges::generate(gradients, [i = 0]() mutable { return static_cast<float>(i++ % 7) - 3.0F; });
  return timed(rule,
               {.parameters = parameters,
                .gradients = gradients,
                .first_moment = momentum,
                .second_moment = {},
                .matrix = size},
               muon_products(size));
}

update_rates measure_on_this_thread(const update_options& rule, precision numbers) {
  if (rule.kind != update_kind::muon) {
    return {.elements = measure_elements(rule, numbers)};
  }
  return {.elements = measure_elements(adamw({}), numbers), .products = measure_products(rule)};
}

}  // namespace

update_rates measure_update(const update_options& rule, precision numbers) {
  oneapi::tbb::task_arena one_thread(1);
  return one_thread.execute([&] { return measure_on_this_thread(rule, numbers); });
}

update_work work_of(const parameter_layout& layout, const update_options& rule) {
  update_work work{.elements = layout.state_elements()};
  for (const auto& p : layout.parameters()) {
    if (p.trained() && kind_for(rule.kind, p.form()) == update_kind::muon) {
      work.products += muon_products(matrix_size_of(p.form()));
    }
  }
  return work;
}

duration update_rates::time_for(const update_work& work) const noexcept {
  return elements.time_for(work.elements) + products.time_for(work.products);
}

element_rate measure_update(const update_options& rule, precision numbers, const measurement_context& on) {
  const at::NoGradGuard no_grad;
  const int moments = moment_buffers(rule);
  const auto floats = [&](bool wanted) { return wanted ? zeros(at::kFloat, on.torch_device) : at::Tensor{}; };
  const update_tensors tensors{
      .parameters = floats(true),
      .gradients = floats(true),
      .first_moment = floats(moments > 0),
      .second_moment = floats(moments > 1),
      .copy = numbers == precision::bf16 ? zeros(at::kBFloat16, on.torch_device) : at::Tensor{}};
  std::vector<duration> times;
  for (std::uint32_t step = 0; step <= repeats; ++step) {
    const auto start = on.meter.now();
    for (std::uint32_t i = 0; i < steps_at_once; ++i) {
      apply_update(constants_of(rule, step, repeats + 1, 1.0F), tensors);
    }
    times.push_back((on.meter.now() - start) / steps_at_once);
  }
  return rate_of(std::move(times), elements);
}

bool same_arithmetic(const update_options& a, const update_options& b) noexcept {
  return a.kind == b.kind && a.nesterov == b.nesterov && (a.momentum != 0) == (b.momentum != 0) &&
         (a.weight_decay != 0) == (b.weight_decay != 0) && (a.clip_norm > 0) == (b.clip_norm > 0);
}

}  // namespace hydra
