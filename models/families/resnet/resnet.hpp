#pragma once
// ResNet (He et al. 2016), version 1.5, as transformers' ResNetForImageClassification.

#include "models/families/catalog.hpp"

namespace hydra {

/// Defaults: ResNet-50.
struct resnet_options {
  std::vector<std::int64_t> depths{3, 4, 6, 3};                    ///< layers of each stage
  std::vector<std::int64_t> hidden_sizes{256, 512, 1024, 2048};    ///< channels of each stage
  std::int64_t embedding_size = 64;                                ///< channels of the embedding
  std::string layer_type = "bottleneck";                           ///< or "basic"
  bool downsample_in_first_stage = false;                          ///< the first stage halves the image, too
  bool downsample_in_bottleneck = false;                           ///< the first convolution of a bottleneck strides
  std::int64_t channels = 0;                                       ///< of an image; 0: as the data have them
  std::int64_t classes = 0;                                        ///< 0: as the data have them
};

/// Layer 0 = embedding ("resnet.embedder.embedder."), which divides height and width by 4; one for each residual layer
/// ("resnet.encoder.stages.{s}.layers.{l}."), of which the first one of each stage but the first halves them; the last
/// one = head ("classifier.1.": mean over the pixels, linear). Samples are f32 [channels, height, width]. Parameters
/// have transformers' names, and batch norm's running averages are among them.
///
/// Throws fault_error{bad_input} for lists of different length and the like; its build() for data with other channels
/// or classes than the options.
chain_description resnet(const resnet_options& options);

}  // namespace hydra
