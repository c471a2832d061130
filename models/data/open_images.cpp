#include "models/data/openers.hpp"

#include "models/data/cifar_samples.hpp"
#include "models/data/image_samples.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {
namespace {

[[noreturn]] void refuse_images(const image_folders& o, const std::string& what) {
  throw fault_error{fault_code::bad_input, fmt::format("images {}: {}", o.train.string(), what)};
}

void check(const image_folders& o) {
  if (!o.size.empty() && (o.size.size() != 2 || o.size[0] <= 0 || o.size[1] <= 0))
    refuse_images(o, "size must be [height, width], both at least 1");
  if (!o.validation.empty() && o.validation_share != 0)
    refuse_images(o, "validation_share cannot be combined with validation, which names a folder");
}

image_size size_for(const image_folders& o, const sample_request& wants) {
  if (!o.size.empty()) return {o.size[0], o.size[1]};
  if (wants.image.size() == 3) return {wants.image[1], wants.image[2]};
  return {};
}

std::int64_t channels_for(const image_folders& o, const sample_request& wants) {
  if (o.channels != 0) return o.channels;
  return wants.image.size() == 3 ? wants.image[0] : 3;
}

}  // namespace

std::shared_ptr<const data_source> open_images(const image_folders& o, const sample_request& wants) {
  check(o);
  const std::vector<std::string> classes = class_folders(o.train);
  image_samples_options samples{.name = fmt::format("images {}", o.train.string()),
                                .train = list_images(o.train, classes, true),
                                .classes = static_cast<std::int64_t>(classes.size()),
                                .names = classes,
                                .size = size_for(o, wants),
                                .channels = channels_for(o, wants),
                                .scale = o.scale,
                                .flip = o.flip,
                                .seed = o.seed};
  samples.validation = o.validation.empty() ? take_share(samples.train, o.validation_share, o.seed)
                                            : list_images(o.validation, classes, false);
  return std::make_shared<image_samples>(std::move(samples));
}

std::shared_ptr<const data_source> open_cifar(const cifar_files& o) { return std::make_shared<cifar_samples>(o); }

}  // namespace hydra
