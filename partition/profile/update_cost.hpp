#pragma once
// The cost of an optimizer step, on the host or on a device.

#include "models/optimizer/update_rule.hpp"
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

/// Measures the rule on the calling thread, on buffers larger than the caches of a core: median of a few steps. In bf16
/// the copy is written, too.
element_rate measure_update(const update_options& rule, precision numbers = precision::fp32);

/// The same on a device, on the thread of its compute queue.
element_rate measure_update(const update_options& rule, precision numbers, const measurement_context& on);

/// True if the two rules do the same arithmetic on each element.
bool same_arithmetic(const update_options& a, const update_options& b) noexcept;

}  // namespace hydra
