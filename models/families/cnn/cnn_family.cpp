#include "models/families/cnn/cnn.hpp"
#include "models/families/families.hpp"
#include "models/families/family_option.hpp"

namespace hydra {

family cnn_family() {
  return family_of<cnn_options>(
      "cnn", "residual convolutional network on images: group norm, stages of halved size and doubled width", cnn,
      {{"stages", &cnn_options::stages, false, "of equal image size; each but the first halves it"},
       {"blocks", &cnn_options::blocks, false, "residual blocks of a stage"},
       {"width", &cnn_options::width, false, "channels of the first stage; each other doubles them"},
       {"groups", &cnn_options::groups, false, "of channels normalised together; divide width"},
       {"dense_layers", &cnn_options::dense_layers, false, "hidden dense layers between the pixels and the classes"},
       {"dense_width", &cnn_options::dense_width, false, "of these layers"}});
}

}  // namespace hydra
