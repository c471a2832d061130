#include "models/data/openers.hpp"

#include "models/data/cifar_samples.hpp"
#include "models/data/class_names.hpp"
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

std::vector<std::string> plain_texts(const std::vector<class_label>& labels) {
  std::vector<std::string> texts;
  for (const class_label& label : labels) texts.push_back(plain_text(label));
  return texts;
}

label_census folder_labels(const std::filesystem::path& folder) {
  label_census found;
  for (const std::string& name : class_folders(folder)) found.try_emplace(name, folder / name);
  return found;
}

/// The labels of images are texts: names of folders.
class_names classes_of(const image_folders& o, const sample_request& wants, const label_census& found) {
  const std::vector<std::string> texts = plain_texts(o.labels);
  class_names classes{std::vector<class_label>(texts.begin(), texts.end()), found, wants.labels};
  classes.check(found);
  return classes;
}

}  // namespace

std::shared_ptr<const data_source> open_images(const image_folders& o, const sample_request& wants) {
  check(o);
  const label_census found = folder_labels(o.train);
  const class_names classes = classes_of(o, wants, found);
  const std::vector<std::string> folders = plain_texts(classes.labels());
  const std::string name = fmt::format("images {}", o.train.string());
  image_samples_options samples{.name = name,
                                .train = list_images(o.train, folders, true),
                                .classes = classes.size(),
                                .names = classes.names(),
                                .notes = classes.notes(found, name),
                                .size = size_for(o, wants),
                                .channels = channels_for(o, wants),
                                .scale = o.scale,
                                .flip = o.flip,
                                .seed = o.seed};
  samples.validation = o.validation.empty() ? take_share(samples.train, o.validation_share, o.seed)
                                            : list_images(o.validation, folders, false);
  return std::make_shared<image_samples>(std::move(samples));
}

std::shared_ptr<const data_source> open_cifar(const cifar_files& o) { return std::make_shared<cifar_samples>(o); }

}  // namespace hydra
