#include "models/data/image_preparation.hpp"

#include "models/weights/model_config.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>

namespace hydra {
namespace {

namespace fs = std::filesystem;

/// What an image processor does where the file does not say it.
struct processor_class {
  std::string_view name;
  std::int64_t resample;  ///< Pillow's constant
  bool centre_crop;
};
constexpr std::int64_t bilinear = 2, bicubic = 3;
constexpr std::array processor_classes{processor_class{"ViT", bilinear, false},
                                       processor_class{"ConvNext", bicubic, false},
                                       processor_class{"DeiT", bicubic, true}};

/// "ViTImageProcessorFast", or "ViTFeatureExtractor" of older files.
const processor_class* class_named(std::string_view type) {
  const auto found = std::ranges::find_if(processor_classes, [&](const processor_class& c) {
    return type.starts_with(c.name) && (type.substr(c.name.size()).starts_with("ImageProcessor") ||
                                        type.substr(c.name.size()).starts_with("FeatureExtractor"));
  });
  return found == processor_classes.end() ? nullptr : &*found;
}

std::optional<model_config> processor_in(const fs::path& checkpoint) {
  if (checkpoint.empty()) return std::nullopt;
  if (const fs::path file = checkpoint / "processor_config.json"; fs::exists(file))
    if (auto inner = model_config::read(file).table("image_processor")) return inner;
  const fs::path file = checkpoint / "preprocessor_config.json";
  return fs::exists(file) ? std::optional{model_config::read(file)} : std::nullopt;
}

bool is_list(const model_config& config, std::string_view key) {
  return config.has(key) && config.content()[key].is_array();
}

/// The default is transformers' IMAGENET_STANDARD_MEAN and _STD.
std::vector<double> numbers_of(const model_config& config, std::string_view key) {
  return is_list(config, key) ? config.reals(key) : std::vector{config.real(key, 0.5)};
}

/// transformers computes (value * rescale_factor - mean) / deviation, Hydra (value / 255 - mean) / deviation.
pixel_scale scale_in(const model_config& config) {
  const double factor = config.real("rescale_factor", 1.0 / 255);
  if (!(factor > 0)) config.refuse("rescale_factor", fmt::format("{} is not positive", factor));
  const double unit = 255 * (config.boolean("do_rescale", true) ? factor : 1.0);
  pixel_scale scale{numbers_of(config, "image_mean"), numbers_of(config, "image_std")};
  if (!config.boolean("do_normalize", true)) {
    std::ranges::fill(scale.mean, 0.0);
    std::ranges::fill(scale.deviation, 1.0);
  }
  for (double& m : scale.mean) m /= unit;
  for (double& d : scale.deviation) d /= unit;
  return scale;
}

/// The side of a square, [height, width], or a table.
image_size size_in(const model_config& config, std::string_view key) {
  if (!config.has(key)) return {};
  const auto checked = [&](std::int64_t height, std::int64_t width) -> image_size {
    if (height < 1 || width < 1) config.refuse(key, "is not at least 1");
    return {height, width};
  };
  if (config.content()[key].is_array()) {
    const auto sides = config.integers(key);
    if (sides.size() != 2) config.refuse(key, "is not [height, width]");
    return checked(sides[0], sides[1]);
  }
  if (!config.content()[key].is_object()) return checked(config.integer(key), config.integer(key));
  const model_config sides = *config.table(key);
  if (sides.has("shortest_edge")) return checked(sides.integer("shortest_edge"), sides.integer("shortest_edge"));
  return sides.has("height") && sides.has("width") ? checked(sides.integer("height"), sides.integer("width"))
                                                   : image_size{};
}

/// Whether a part of the image may be cut off: ConvNextImageProcessor does so below 384 pixels.
bool crops(const model_config& config, const processor_class& type, image_size size) {
  config.ignore({"crop_pct"});
  if (config.boolean("do_center_crop", type.centre_crop)) return true;
  if (type.name == "ConvNext") return size.height > 0 && size.height < 384;
  return config.has("size") && config.content()["size"].contains("shortest_edge");
}

/// Whether images lose their borders that have the size of samples, too: they are made larger before.
bool cuts_off_all(const model_config& config, const processor_class& type, image_size cropped) {
  if (type.name == "ConvNext") return true;
  return config.boolean("do_center_crop", type.centre_crop) && cropped == image_size{};
}

void read_size(const model_config& config, const processor_class& type, image_preparation& to) {
  constexpr std::array filters{"nearest", "Lanczos", "bilinear", "bicubic", "box", "Hamming"};
  const std::int64_t resample = config.integer("resample", type.resample);
  const image_size size = size_in(config, "size"), cropped = size_in(config, "crop_size");
  const bool crop = crops(config, type, size);
  if (!config.boolean("do_resize", true)) return;
  to.size = crop && cropped != image_size{} ? cropped : size;
  if (resample < 0 || resample >= std::ssize(filters)) config.refuse("resample", "is none of Pillow's filters, 0 to 5");
  if (resample != bilinear)
    to.resizing.push_back(fmt::format("{}: resample = {} ({}), but Hydra resizes images bilinearly", config.file(),
                                      resample, filters[static_cast<std::size_t>(resample)]));
  if (!crop) return;
  const bool all = to.size != size || cuts_off_all(config, type, cropped);
  (all ? to.notes : to.resizing)
      .push_back(fmt::format("{}: images keep their shape or lose their borders, but Hydra stretches whole ones",
                             config.file()));
}

/// Of a key that is false nothing is done.
void note_unread(const model_config& config, image_preparation& to) {
  config.ignore({"processor_class", "auto_map", "do_convert_rgb", "data_format", "input_data_format", "return_tensors",
                 "device", "disable_grouping", "default_to_square", "pad_size", "_valid_processor_keys",
                 "_valid_kwargs_names"});
  for (const std::string& name : config.unread()) {
    const std::string key = name.substr(name.rfind('.') + 1);
    const auto found = config.content().find(key);
    const bool known = found != config.content().end();
    if (known && *found == false) continue;
    to.notes.push_back(
        fmt::format("{}: Hydra does not use {}{}", config.file(), name, known ? " = " + shown_json(*found) : ""));
  }
}

const processor_class& read_class(const model_config& config, image_preparation& to) {
  const std::string older = config.text("feature_extractor_type", {});
  const std::string type = config.text("image_processor_type", older);
  if (const auto* const known = class_named(type)) return *known;
  if (!type.empty())
    to.notes.push_back(fmt::format("{}: Hydra does not know \"{}\" and reads the file as a ViTImageProcessor would",
                                   config.file(), shown(type)));
  return processor_classes[config.has("crop_pct") ? 1 : 0];
}

}  // namespace

image_preparation read_preparation(const fs::path& checkpoint) {
  image_preparation result;
  const auto config = processor_in(checkpoint);
  if (!checkpoint.empty()) result.file = checkpoint / "preprocessor_config.json";
  if (!config) return result;
  result.file = config->file();
  config->require("do_flip_channel_order", false);
  const processor_class& type = read_class(*config, result);
  result.scale = scale_in(*config);
  const bool normalizes = config->boolean("do_normalize", true);
  result.lists_means = normalizes && is_list(*config, "image_mean");
  result.lists_deviations = normalizes && is_list(*config, "image_std");
  read_size(*config, type, result);
  note_unread(*config, result);
  return result;
}

pixel_scale image_preparation::scale_for(const pixel_scale& own, std::int64_t channels) {
  if (scale.mean.size() == 1 && !lists_means) scale.mean.resize(static_cast<std::size_t>(channels), scale.mean.front());
  if (scale.deviation.size() == 1 && !lists_deviations)
    scale.deviation.resize(static_cast<std::size_t>(channels), scale.deviation.front());
  const auto chosen = [&](const std::vector<double>& stored, const char* key, const std::vector<double>& given,
                          const char* own_key) {
    if (given.empty() && !stored.empty() && std::ssize(stored) != channels)
      refuse(file, fmt::format("{} has {} number{}, but images have {} channels: give the data {} = [...]", key,
                               stored.size(), stored.size() == 1 ? "" : "s", channels, own_key));
    if (!given.empty() && !stored.empty() && given != stored)
      notes.push_back(fmt::format("{}: {} is [{}], but the data's {} = [{}] is used", file.string(), key,
                                  fmt::join(stored, ", "), own_key, fmt::join(given, ", ")));
    return given.empty() ? stored : given;
  };
  return {chosen(scale.mean, "image_mean", own.mean, "mean"),
          chosen(scale.deviation, "image_std", own.deviation, "deviation")};
}

void image_preparation::note_usual(const pixel_scale& own, const pixel_scale& used) {
  if (file.empty() || !scale.mean.empty() || (!own.mean.empty() && !own.deviation.empty())) return;
  notes.push_back(
      fmt::format("{} is not there: images are scaled by mean = [{}] and deviation = [{}]; where the checkpoint "
                  "was trained with others, give them by the keys mean and deviation of the data",
                  file.string(), fmt::join(used.mean, ", "), fmt::join(used.deviation, ", ")));
}

void image_preparation::compare_size(image_size samples) {
  if (size != image_size{} && size != samples)
    notes.push_back(fmt::format("{}: size is {} x {}, but samples are {} x {}", file.string(), size.height, size.width,
                                samples.height, samples.width));
}

}  // namespace hydra
