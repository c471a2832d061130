#include "models/families/cnn/cnn.hpp"
#include "models/families/families.hpp"
#include "models/families/option_map.hpp"

namespace hydra {

family cnn_family() {
  return {"cnn",
          "residual convolutional network on images: group norm, stages of halved size and doubled width",
          {{"stages", std::int64_t{3}, false, "of equal image size; each but the first halves it"},
           {"blocks", std::int64_t{2}, false, "residual blocks of a stage"},
           {"width", std::int64_t{16}, false, "channels of the first stage; each other doubles them"},
           {"groups", std::int64_t{4}, false, "of channels normalised together; divide width"}},
          [](const option_map& o) {
            return cnn({.stages = get<std::int64_t>(o, "stages"),
                        .blocks = get<std::int64_t>(o, "blocks"),
                        .width = get<std::int64_t>(o, "width"),
                        .groups = get<std::int64_t>(o, "groups")});
          }};
}

}  // namespace hydra
