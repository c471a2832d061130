#pragma once
// The update rule of running averages, which no optimizer trains (parameter_spec::averaging).

#include <cstdint>
#include <span>

namespace hydra {

/// After a step of `micro_batches`, in fp32: average * (1 - averaging)^micro_batches + gathered, where `gathered` is
/// the gradient slice. Neither clipped nor scheduled. Spans of equal length.
void apply_average(double averaging, std::uint32_t micro_batches, std::span<float> average,
                   std::span<const float> gathered);

}  // namespace hydra
