#include "apps/workload/convert.hpp"
#include "apps/workload/data_kind_table.hpp"

namespace hydra::apps {

namespace {

key_rule share_rule() {
  return real_rule("validation_share", {.least = 0, .most = 1, .open_most = true}, "0",
                   "of each class, taken from the training images");
}

/// How pixels become numbers.
std::vector<key_rule> pixel_rules(const std::string& whose) {
  return {plain_rule("mean", value_kind::number_list, whose, "of each channel, subtracted from values in [0, 1]"),
          {.name = "deviation",
           .kind = value_kind::number_list,
           .help = "of each channel, divided by",
           .fallback = whose,
           .range = {.least = 0, .open_least = true}},
          switch_rule("flip", "false", "true: a random half of the training images is mirrored left to right")};
}

template <class Images>
void read_pixels(const value_table& keys, Images& d) {
  d.scale = {read_list<double>(keys, "mean"), read_list<double>(keys, "deviation")};
  assign(keys, "flip", d.flip);
  assign(keys, "seed", d.seed);
}

data_description read_images(const value_table& keys) {
  image_folders d;
  assign(keys, "train", d.train);
  assign(keys, "validation", d.validation);
  assign(keys, "validation_share", d.validation_share);
  d.labels = read_labels(keys, "labels");
  d.size = read_list<std::int64_t>(keys, "size");
  assign(keys, "channels", d.channels);
  read_pixels(keys, d);
  return {d};
}

data_description read_cifar(const value_table& keys) {
  cifar_files d;
  d.train = read_list<std::filesystem::path>(keys, "train");
  d.validation = read_list<std::filesystem::path>(keys, "validation");
  assign(keys, "classes", d.classes);
  read_pixels(keys, d);
  return {d};
}

}  // namespace

data_kind images_kind() {
  std::vector<key_rule> keys{
      {.name = "train", .kind = value_kind::folder, .help = "folder with a folder for each class", .required = true},
      {.name = "validation", .kind = value_kind::folder, .help = "the same to validate on", .fallback = "none"},
      share_rule(),
      label_rule(),
      plain_rule("size", value_kind::image_size, "the model's, else its checkpoint's, else the files' own",
                 "that images are stretched to"),
      integer_rule("channels", {1, 3}, "the model's, else 3", "1: grey, 3: colours"),
      seed_rule("of the share and of the mirrored images")};
  return {"images", joined(std::move(keys), pixel_rules("the checkpoint's, else ImageNet's")), read_images};
}

data_kind cifar_kind() {
  std::vector<key_rule> keys{
      {.name = "train", .kind = value_kind::paths, .help = "binary files, or their folder", .required = true},
      plain_rule("validation", value_kind::paths, "the test batch of the training folder", "the same to validate on"),
      integer_rule("classes", {10, 100}, "10", "10: CIFAR-10; 100, 20: fine or coarse labels of CIFAR-100"),
      seed_rule("of the mirrored images")};
  return {"cifar", joined(std::move(keys), pixel_rules("the checkpoint's, else the data set's")), read_cifar};
}

}  // namespace hydra::apps
