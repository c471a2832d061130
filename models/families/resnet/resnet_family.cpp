#include "models/families/families.hpp"
#include "models/families/family_option.hpp"
#include "models/families/integer_list.hpp"
#include "models/families/resnet/resnet.hpp"

namespace hydra {

family resnet_family() {
  using o = resnet_options;
  return family_of<o>(
      "resnet", "ResNet on images, version 1.5: batch norm, bottlenecks; the defaults are ResNet-50", resnet,
      {{"depths", std::string{"3,4,6,3"}, false, "residual layers of each stage",
        [](o& options, const std::string& list) { options.depths = integer_list("resnet: depths", list); }},
       {"hidden_sizes", std::string{"256,512,1024,2048"}, false,
        "channels of each stage; each but the first halves the image",
        [](o& options, const std::string& list) { options.hidden_sizes = integer_list("resnet: hidden_sizes", list); }},
       {"embedding_size", &o::embedding_size, false, "channels of the embedding, which divides the image's size by 4"},
       {"layer_type", &o::layer_type, false, "of the residual layers; \"basic\" in ResNet-18 and ResNet-34"},
       {"downsample_in_first_stage", &o::downsample_in_first_stage, false, "the first stage halves the image, too"},
       {"downsample_in_bottleneck", &o::downsample_in_bottleneck, false,
        "the first convolution of a bottleneck strides: version 1"}});
}

}  // namespace hydra
