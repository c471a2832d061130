#include "models/families/families.hpp"
#include "models/families/integer_list.hpp"
#include "models/families/resnet/resnet.hpp"

namespace hydra {

family resnet_family() {
  const resnet_options standard;
  return {"resnet",
          "ResNet on images, version 1.5: batch norm, bottlenecks; the defaults are ResNet-50",
          {{"depths", "3,4,6,3", false, "residual layers of each stage"},
           {"hidden_sizes", "256,512,1024,2048", false, "channels of each stage; each but the first halves the image"},
           {"embedding_size", standard.embedding_size, false,
            "channels of the embedding, which divides the image's size by 4"},
           {"layer_type", standard.layer_type, false, "of the residual layers; \"basic\" in ResNet-18 and ResNet-34"},
           {"downsample_in_first_stage", standard.downsample_in_first_stage, false,
            "the first stage halves the image, too"},
           {"downsample_in_bottleneck", standard.downsample_in_bottleneck, false,
            "the first convolution of a bottleneck strides: version 1"}},
          [](const option_values& o) {
            return resnet({.depths = integer_list("resnet: depths", get<std::string>(o, "depths")),
                           .hidden_sizes = integer_list("resnet: hidden_sizes", get<std::string>(o, "hidden_sizes")),
                           .embedding_size = get<std::int64_t>(o, "embedding_size"),
                           .layer_type = get<std::string>(o, "layer_type"),
                           .downsample_in_first_stage = get<bool>(o, "downsample_in_first_stage"),
                           .downsample_in_bottleneck = get<bool>(o, "downsample_in_bottleneck")});
          }};
}

}  // namespace hydra
