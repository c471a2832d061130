#include "models/data/image_samples.hpp"

#include "models/data/image_resize.hpp"
#include "models/data/sample_bytes.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/storage/mapped_file.hpp"
#include "runtime/storage/sha256.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace hydra {

namespace {

/// Digest of name, class, size and both ends of each file: a folder of images may be too large to be read as a whole
/// for this.
void add(const labelled_image& i, sha256& to) {
  constexpr std::size_t most = 4096;
  const mapped_file mapped{i.file};
  const auto bytes = mapped.bytes();
  const std::string header = fmt::format("{} {} {}\n", i.file.filename().string(), i.label, bytes.size());
  to.add(std::as_bytes(std::span{header}));
  to.add(bytes.first(std::min(most, bytes.size())));
  to.add(bytes.last(std::min(most, bytes.size())));
}

std::string digest_of(const std::vector<labelled_image>& images) {
  sha256 hash;
  for (const labelled_image& i : images) add(i, hash);
  return hash.finish();
}

std::string fingerprint_of(const image_samples_options& o) {
  return fmt::format("images {} {}, classes {}, size {} {} {}, mean {}, deviation {}, flip {}, seed {}",
                     digest_of(o.train), digest_of(o.validation), o.classes, o.channels, o.size.height, o.size.width,
                     fmt::join(o.scale.mean, " "), fmt::join(o.scale.deviation, " "), o.flip, o.seed);
}

/// The note on files with several images.
std::string several_images(const std::string& data, const std::vector<std::string>& files) {
  return fmt::format(
      "{}: {} more than one image (pages, frames of an animation, or those of a photograph), of which the first "
      "is read: {}{}",
      data, files.size() == 1 ? "1 file has" : fmt::format("{} files have", files.size()), files.front(),
      files.size() == 1 ? "" : ", ...");
}

}  // namespace

image_samples::image_samples(image_samples_options options) : options_(std::move(options)) {
  if (options_.channels != 1 && options_.channels != 3)
    refuse(fmt::format("{}: images have 1 or 3 channels, not {}", options_.name, options_.channels));
  options_.scale = with_defaults(options_.scale, options_.channels);
  values_ = {options_.scale, options_.channels, options_.name};
  look_at_files();
  fingerprint_ = fingerprint_of(options_);
}

void image_samples::look_at_files() {
  const bool sized = options_.size != image_size{};
  bool resizes = false;
  std::vector<std::string> several;
  for (const split part : {split::train, split::validation})
    for (const labelled_image& i : list(part)) {
      const image_outline found = outline_of(i.file);
      if (options_.size == image_size{}) options_.size = found.size;
      if (!sized) require_equal_size(i, found.size);
      resizes = resizes || found.size != options_.size;
      if (found.several) several.push_back(i.file.string());
    }
  if (resizes) std::ranges::copy(options_.resizing, std::back_inserter(options_.notes));
  if (!several.empty()) options_.notes.push_back(several_images(options_.name, several));
}

void image_samples::require_equal_size(const labelled_image& i, image_size size) const {
  if (options_.size != size)
    refuse(fmt::format("{} is {} x {} pixels, {} is {} x {}; say which size = [height, width] all shall have",
                       options_.train.front().file.string(), options_.size.height, options_.size.width, i.file.string(),
                       size.height, size.width));
}

std::size_t image_samples::read(split part, std::size_t index, std::span<std::byte> input,
                                std::span<std::byte> target) const {
  if (index >= samples(part))
    throw fault_error{fault_code::internal, fmt::format("{} has no sample {}", options_.name, index)};
  const labelled_image& from = list(part)[index];
  const auto out = values_in<float>(input, static_cast<std::size_t>(sample_input().elements()));
  const bool mirrored = options_.flip && part == split::train && is_mirrored(options_.seed, index);
  values_.write(resized(decode_image(from.file, options_.channels), options_.size), mirrored, out);
  values_in<std::int64_t>(target, 1)[0] = from.label;
  return 1;
}

}  // namespace hydra
