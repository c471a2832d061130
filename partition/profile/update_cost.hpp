#pragma once
// The cost of an optimizer step, on the host or on a device.

#include "models/optimizer/update_rule.hpp"
#include "models/parameter_layout.hpp"
#include "partition/profile/measurement_context.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/device/precision.hpp"

#include <cstddef>

namespace hydra {

/// Elements per second; zero: not known, takes no time.
class element_rate {
 public:
  constexpr element_rate() = default;
  constexpr explicit element_rate(double per_second) : per_second_(per_second) {}
  constexpr double per_second() const noexcept { return per_second_; }
  duration time_for(std::size_t elements) const noexcept;

 private:
  double per_second_ = 0;
};

/// What a step of some parameters takes. Products are those of muon, whose number depends on a matrix' shape: a step of
/// 768 x 3072 values adds up 6000 products for each of them, one of 64 x 64 values 640.
struct update_work {
  std::size_t elements = 0;
  std::size_t products = 0;
};
update_work work_of(const parameter_layout& layout, const update_options& rule);

/// Of the host.
struct update_rates {
  element_rate elements{};
  element_rate products{};  ///< added up per second
  duration time_for(const update_work& work) const noexcept;
};

/// Measures the rule on one thread, on buffers larger than the caches of a core: median of a few steps. In bf16 the
/// copy is written, too. Of muon: adamw's elements, and the products of one matrix that is large enough to be as fast
/// as larger ones.
update_rates measure_update(const update_options& rule, precision numbers = precision::fp32);

/// The same on a device, on the thread of its compute queue.
element_rate measure_update(const update_options& rule, precision numbers, const measurement_context& on);

/// True if the two rules do the same arithmetic on each element.
bool same_arithmetic(const update_options& a, const update_options& b) noexcept;

}  // namespace hydra
