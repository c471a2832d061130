#pragma once
// Conversion of 8-bit pixels to the numbers of a sample.

#include <vector>

namespace hydra {

/// (value / 255 - mean) / deviation, with one mean and one deviation per channel. Empty: those of the model's
/// checkpoint (image_preparation.hpp), else of ImageNet, CIFAR its own.
struct pixel_scale {
  std::vector<double> mean{};       ///< ImageNet: 0.485, 0.456, 0.406, for one channel their mean
  std::vector<double> deviation{};  ///< ImageNet: 0.229, 0.224, 0.225, for one channel their mean
};

}  // namespace hydra
