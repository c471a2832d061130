#include "models/data/openers.hpp"

#include "models/data/choice_notes.hpp"
#include "models/data/cifar_samples.hpp"
#include "models/data/class_names.hpp"
#include "models/data/image_preparation.hpp"
#include "models/data/image_samples.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

namespace hydra {
namespace {

[[noreturn]] void refuse_images(const image_folders& o, const std::string& what) {
  refuse(fmt::format("images {}: {}", o.train.string(), what));
}

void check(const image_folders& o) {
  if (!o.size.empty() && (o.size.size() != 2 || o.size[0] <= 0 || o.size[1] <= 0))
    refuse_images(o, "size must be [height, width], both at least 1");
  if (!o.validation.empty() && o.validation_share != 0)
    refuse_images(o, "validation_share cannot be combined with validation, which names a folder");
}

image_size size_for(const image_folders& o, const sample_request& wants, image_size stored) {
  if (!o.size.empty()) return {o.size[0], o.size[1]};
  if (wants.image.size() == 3) return {wants.image[1], wants.image[2]};
  return stored;
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

/// The folders of a data set that its publisher has divided, those to train on first, then those to validate with.
constexpr std::array<std::string_view, 10> part_names{"train", "training", "validation", "valid",   "val",
                                                      "dev",   "test",     "testing",    "eval", "evaluation"};

std::ptrdiff_t rank_of_part(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(part_names, name) - part_names.begin();
}

/// Folders in which others have parts of the data are classes only where the user says so.
void refuse_parts(const image_folders& o, const label_census& found) {
  std::vector<std::string> names;
  for (const auto& [label, site] : found) names.push_back(plain_text(label));
  std::ranges::sort(names, {}, rank_of_part);
  if (!o.labels.empty() || rank_of_part(names.back()) == std::ssize(part_names)) return;
  const auto folder = [&](std::size_t i) { return (o.train / names[i]).string(); };
  refuse_images(o, fmt::format("its folders are named as parts of the data, not as classes: {0}. Write train = \"{1}\" "
                               "and validation = \"{2}\"; if they are classes, labels = [\"{3}\"]",
                               fmt::join(names, ", "), folder(0), folder(1), fmt::join(names, "\", \"")));
}

/// The labels of images are texts: names of folders.
class_names classes_of(const image_folders& o, const sample_request& wants, const label_census& found) {
  const std::vector<std::string> texts = plain_texts(o.labels);
  class_names classes{std::vector<class_label>(texts.begin(), texts.end()), found, wants.labels};
  classes.check(found);
  return classes;
}

using paths = std::vector<std::filesystem::path>;

void note_files(const std::filesystem::path& folder, const paths& files, std::string_view what,
                std::vector<std::string>& notes) {
  constexpr std::size_t most = 3;
  if (files.empty()) return;
  std::vector<std::string> first;
  for (const auto& file : std::span{files}.first(std::min(most, files.size())))
    first.push_back(shown(file.lexically_relative(folder).string()));
  notes.push_back(fmt::format("{}: {} {} {}: {}{}", folder.string(), files.size(),
                              files.size() == 1 ? "file is" : "files are", what, fmt::join(first, ", "),
                              files.size() > most ? ", ..." : ""));
}

/// Other programs take the innermost folder for the class.
void note_inner_folders(const std::filesystem::path& folder, const std::vector<labelled_image>& images,
                        std::vector<std::string>& notes) {
  paths inner;
  for (const labelled_image& image : images)
    if (image.file.lexically_relative(folder).parent_path().has_parent_path()) inner.push_back(image.file);
  note_files(folder, inner, "in a folder within the folder of a class, and of this class", notes);
}

void note_places(const std::filesystem::path& folder, const std::vector<labelled_image>& images,
                 std::vector<std::string>& notes) {
  note_inner_folders(folder, images, notes);
  note_files(folder, other_files(folder), "not read (by name and place not an image of a class)", notes);
}

/// Sizes and numbers that neither the data nor the model say are those of the checkpoint.
void prepare_as_stored(const image_folders& o, const sample_request& wants, image_samples_options& samples) {
  image_preparation stored = read_preparation(wants.checkpoint);
  samples.scale = with_defaults(stored.scale_for(o.scale, samples.channels), samples.channels);
  stored.note_usual(o.scale, samples.scale);
  samples.size = size_for(o, wants, stored.size);
  if (samples.size != image_size{}) stored.compare_size(samples.size);
  std::ranges::copy(stored.notes, std::back_inserter(samples.notes));
  samples.resizing = stored.resizing;
}

}  // namespace

std::shared_ptr<const data_source> open_images(const image_folders& o, const sample_request& wants) {
  check(o);
  const label_census found = folder_labels(o.train);
  refuse_parts(o, found);
  const class_names classes = classes_of(o, wants, found);
  const std::vector<std::string> folders = plain_texts(classes.labels());
  const std::string name = fmt::format("images {}", o.train.string());
  image_samples_options samples{.name = name,
                                .train = list_images(o.train, folders, true),
                                .classes = classes.size(),
                                .names = classes.names(),
                                .notes = classes.notes(found, name),
                                .channels = channels_for(o, wants),
                                .flip = o.flip,
                                .seed = o.seed};
  note_places(o.train, samples.train, samples.notes);
  samples.validation = o.validation.empty() ? take_share(samples.train, o.validation_share, o.seed)
                                            : list_images(o.validation, folders, false);
  if (!o.validation.empty() && o.validation != o.train) note_places(o.validation, samples.validation, samples.notes);
  std::ranges::copy(notes_on_validation(name, o.train, o.validation, true), std::back_inserter(samples.notes));
  prepare_as_stored(o, wants, samples);
  return std::make_shared<image_samples>(std::move(samples));
}

/// Its images are not resized.
std::shared_ptr<const data_source> open_cifar(const cifar_files& o, const sample_request& wants) {
  image_preparation stored = read_preparation(wants.checkpoint);
  cifar_files scaled = o;
  scaled.scale = with_cifar_defaults(stored.scale_for(o.scale, 3), o.classes);
  stored.note_usual(o.scale, scaled.scale);
  stored.compare_size({32, 32});
  std::ranges::copy(notes_on_validation(fmt::format("cifar {}", file_list{o.train}.string()), o.train, o.validation),
                    std::back_inserter(stored.notes));
  return std::make_shared<cifar_samples>(scaled, stored.notes);
}

}  // namespace hydra
