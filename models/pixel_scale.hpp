#pragma once
// Conversion of 8-bit pixels to the numbers of a sample.

#include <vector>

namespace hydra {

/// (value / 255 - mean) / deviation, with one mean and one deviation per channel.
struct pixel_scale {
  std::vector<double> mean{};  ///< empty: of ImageNet (0.485, 0.456, 0.406), for one channel their mean; CIFAR: its own
  std::vector<double> deviation{};  ///< empty: 0.229, 0.224, 0.225, for one channel their mean; CIFAR: its own
};

}  // namespace hydra
