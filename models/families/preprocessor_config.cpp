#include "models/families/preprocessor_config.hpp"

#include "runtime/base/json_text.hpp"

#include <nlohmann/json.hpp>

namespace hydra {

std::string preprocessor_config(const data_source& data) {
  const auto scale = data.pixel_scaling();
  const tensor_spec sample = data.sample_input();
  if (!scale || sample.shape.size() != 3 || sample.shape[0] != 3) return {};
  constexpr int bilinear = 2;  // Pillow's constant
  const nlohmann::json config{{"image_processor_type", "ViTImageProcessor"},
                              {"do_convert_rgb", true},
                              {"do_resize", true},
                              {"size", {{"height", sample.shape[1]}, {"width", sample.shape[2]}}},
                              {"resample", bilinear},
                              {"do_rescale", true},
                              {"rescale_factor", 1.0 / 255},
                              {"do_normalize", true},
                              {"image_mean", scale->mean},
                              {"image_std", scale->deviation}};
  return json_text(config, 2) + "\n";
}

}  // namespace hydra
