#pragma once
// Random images without fine detail.

#include <cstdint>
#include <vector>

namespace hydra {

/// Values of an image [channels, height, width]: in each channel a few plane waves of at most two periods, of mean
/// square 1 over their phases. A function of its arguments.
std::vector<double> smooth_pattern(std::uint64_t key, const std::vector<std::int64_t>& shape);

}  // namespace hydra
