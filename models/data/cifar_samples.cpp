#include "models/data/cifar_samples.hpp"

#include "models/data/sample_bytes.hpp"
#include "models/data/tokenized_text.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace hydra {
namespace {

namespace fs = std::filesystem;
using paths = std::vector<fs::path>;

constexpr std::size_t image_side = 32, image_values = 3 * image_side * image_side;

std::size_t labels_in_record(std::int64_t classes) { return classes == 10 ? 1 : 2; }

void check_classes(const cifar_files& o) {
  if (o.classes != 10 && o.classes != 20 && o.classes != 100)
    refuse(fmt::format("cifar: classes is {}; allowed are 10 (CIFAR-10), 100 and 20 (CIFAR-100)", o.classes));
  if (o.train.empty()) refuse("cifar: there is no file to train on");
}

/// The files of a folder, under their names in the archive.
paths files_in(const fs::path& folder, std::int64_t classes, bool train) {
  if (classes != 10) return {folder / (train ? "train.bin" : "test.bin")};
  if (!train) return {folder / "test_batch.bin"};
  paths files;
  for (int i = 1; i <= 5; ++i) files.push_back(folder / fmt::format("data_batch_{}.bin", i));
  return files;
}

/// Folders replaced by their files.
paths unfolded(const paths& given, std::int64_t classes, bool train) {
  paths files;
  for (const fs::path& path : given) {
    std::error_code ignored;
    const paths inner = fs::is_directory(path, ignored) ? files_in(path, classes, train) : paths{path};
    files.insert(files.end(), inner.begin(), inner.end());
  }
  return files;
}

/// Without options for validation: the test batch next to the training files, if it exists.
paths validation_of(const cifar_files& o) {
  std::error_code ignored;
  const bool folder = o.train.size() == 1 && fs::is_directory(o.train.front(), ignored);
  if (!o.validation.empty() || !folder) return unfolded(o.validation, o.classes, false);
  paths implied = unfolded(o.train, o.classes, false);
  std::erase_if(implied, [&](const fs::path& file) { return !fs::exists(file, ignored); });
  return implied;
}

}  // namespace

pixel_scale with_cifar_defaults(pixel_scale scale, std::int64_t classes) {
  const bool ten = classes == 10;
  if (scale.mean.empty()) scale.mean = ten ? std::vector{0.4914, 0.4822, 0.4465} : std::vector{0.5071, 0.4865, 0.4409};
  if (scale.deviation.empty())
    scale.deviation = ten ? std::vector{0.2470, 0.2435, 0.2616} : std::vector{0.2673, 0.2564, 0.2762};
  return scale;
}

cifar_samples::cifar_samples(const cifar_files& options, std::vector<std::string> notes)
    : options_(options), notes_(std::move(notes)) {
  check_classes(options_);
  name_ = fmt::format("cifar {}", options_.train.front().string());
  options_.scale = with_cifar_defaults(options_.scale, options_.classes);
  values_ = {options_.scale, 3, name_};
  for (const fs::path& file : unfolded(options_.train, options_.classes, true)) add(file, train_);
  digests_ += "validation ";
  for (const fs::path& file : validation_of(options_)) add(file, validation_);
}

std::string cifar_samples::fingerprint() const {
  return fmt::format("cifar {}classes {}, mean {}, deviation {}, flip {}, seed {}", digests_, options_.classes,
                     fmt::join(options_.scale.mean, " "), fmt::join(options_.scale.deviation, " "), options_.flip,
                     options_.seed);
}

std::int64_t cifar_samples::label(record r) const noexcept {
  return std::to_integer<std::int64_t>(r[options_.classes == 100 ? 1 : 0]);
}

void cifar_samples::require_unchanged() const {
  for (const auto& file : files_) file->require_unchanged();
}

void cifar_samples::add(const fs::path& file, std::vector<record>& to) {
  const std::size_t size = labels_in_record(options_.classes) + image_values;
  const record all = files_.emplace_back(std::make_unique<const mapped_file>(file))->bytes();
  digests_ += digest_of(*files_.back()) + " ";
  if (all.size() % size != 0)
    refuse(fmt::format("{} has {} bytes, which are not a whole number of records of {} bytes (classes = {})",
                       file.string(), all.size(), size, options_.classes));
  for (std::size_t at = 0; at < all.size(); at += size) {
    to.push_back(all.subspan(at, size));
    if (label(to.back()) >= options_.classes)
      refuse(fmt::format("{}: record {} has label {}; there are {} classes", file.string(), at / size, label(to.back()),
                         options_.classes));
  }
}

std::size_t cifar_samples::read(split part, std::size_t index, std::span<std::byte> input,
                                std::span<std::byte> target) const {
  if (index >= samples(part)) throw fault_error{fault_code::internal, fmt::format("{} has no sample {}", name_, index)};
  const record from = list(part)[index];
  const record bytes = from.last(image_values);
  const auto out = values_in<float>(input, image_values);
  const bool mirrored = options_.flip && part == split::train && is_mirrored(options_.seed, index);
  for (std::size_t i = 0; i < image_values; ++i) {
    const std::size_t at = mirrored ? i - i % image_side + (image_side - 1 - i % image_side) : i;
    out[i] = values_(i / (image_side * image_side), std::to_integer<std::uint8_t>(bytes[at]));
  }
  values_in<std::int64_t>(target, 1)[0] = label(from);
  return 1;
}

}  // namespace hydra
