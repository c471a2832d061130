#pragma once
// A residual convolutional network for images (He et al. 2016, section 4.2), with group norm.

#include "models/families/catalog.hpp"

namespace hydra {

struct cnn_options {
  std::int64_t stages = 3;
  std::int64_t blocks = 2;  ///< of a stage
  std::int64_t width = 16;  ///< channels of the first stage
  std::int64_t groups = 4;  ///< of the norms; divide width
  std::int64_t dense_layers = 0;  ///< hidden ones between the pixels and the classes
  std::int64_t dense_width = 512;
};

/// Layer 0 = stem ("stem.": convolution, norm, ReLU), then `stages` times `blocks` residual blocks ("stages.{s}.{b}."),
/// the last one = head ("head.": mean over the pixels, linear to the data's classes). Each stage but the first starts
/// with a block that halves height and width (rounded up) and doubles the channels. Samples are f32 [channels, height,
/// width]. With dense layers the mean ("pool.") is a layer of its own, and they ("dense.{i}.") are before the last one.
///
/// Group norm has no running statistics, so every layer is a pure function; with batch norm it would not be.
chain_description cnn(const cnn_options& options);

}  // namespace hydra
