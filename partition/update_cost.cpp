#include "partition/update_cost.hpp"

#include "partition/profile.hpp"

#include <vector>

namespace hydra {

duration element_rate::time_for(std::size_t elements) const noexcept {
  return per_second_ > 0 ? from_seconds(static_cast<double>(elements) / per_second_) : duration{};
}

element_rate measure_update(const update_options& rule, precision numbers) {
  constexpr std::size_t elements = 1 << 20;
  constexpr std::uint32_t repeats = 5;
  std::vector<float> parameters(elements), gradients(elements, 1e-3F), first(elements), second(elements);
  const bool one = moment_buffers(rule) > 0, two = moment_buffers(rule) > 1;
  std::vector<std::uint16_t> copy(numbers == precision::bf16 ? elements : 0);
  std::vector<duration> times;
  for (std::uint32_t step = 0; step <= repeats; ++step) {
    const auto start = steady_clock::now();
    apply_update(rule, step, repeats + 1, 1.0F,
                 {.parameters = parameters,
                  .gradients = gradients,
                  .first_moment = one ? std::span<float>(first) : std::span<float>(),
                  .second_moment = two ? std::span<float>(second) : std::span<float>(),
                  .copy = copy});
    times.push_back(steady_clock::now() - start);
  }
  times.erase(times.begin());  // the first one touches the pages
  return element_rate{static_cast<double>(elements) / seconds(median(std::move(times)))};
}

bool same_arithmetic(const update_options& a, const update_options& b) noexcept {
  return a.kind == b.kind && a.nesterov == b.nesterov && (a.momentum != 0) == (b.momentum != 0) &&
         (a.weight_decay != 0) == (b.weight_decay != 0) && (a.clip_norm > 0) == (b.clip_norm > 0);
}

}  // namespace hydra
