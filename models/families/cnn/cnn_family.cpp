#include "models/families/cnn/cnn.hpp"
#include "models/families/families.hpp"

namespace hydra {

family cnn_family() {
  const cnn_options standard;
  return {"cnn",
          "residual convolutional network on images: group norm, stages of halved size and doubled width",
          {{"stages", standard.stages, false, "of equal image size; each but the first halves it"},
           {"blocks", standard.blocks, false, "residual blocks of a stage"},
           {"width", standard.width, false, "channels of the first stage; each other doubles them"},
           {"groups", standard.groups, false, "of channels normalised together; divide width"}},
          [](const option_values& o) {
            return cnn({.stages = get<std::int64_t>(o, "stages"),
                        .blocks = get<std::int64_t>(o, "blocks"),
                        .width = get<std::int64_t>(o, "width"),
                        .groups = get<std::int64_t>(o, "groups")});
          }};
}

}  // namespace hydra
