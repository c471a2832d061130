#include "models/data/image_samples.hpp"

#include "models/data/image_file.hpp"
#include "models/data/image_resize.hpp"
#include "models/data/sample_bytes.hpp"
#include "runtime/storage/mapped_file.hpp"
#include "runtime/storage/sha256.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

}  // namespace

image_samples::image_samples(image_samples_options options) : options_(std::move(options)) {
  if (options_.channels != 1 && options_.channels != 3)
    throw fault_error{fault_code::bad_input,
                      fmt::format("{}: images have 1 or 3 channels, not {}", options_.name, options_.channels)};
  options_.scale = with_defaults(options_.scale, options_.channels);
  values_ = {options_.scale, options_.channels, options_.name};
  const bool sized = options_.size != image_size{};
  for (const split part : {split::train, split::validation})
    for (const labelled_image& i : list(part)) check(i, sized);
  fingerprint_ = fingerprint_of(options_);
}

void image_samples::check(const labelled_image& i, bool sized) {
  const image_size size = image_size_of(i.file);
  if (sized) return;
  if (options_.size == image_size{}) options_.size = size;
  if (options_.size != size)
    throw fault_error{
        fault_code::bad_input,
        fmt::format("{} is {} x {} pixels, {} is {} x {}; say which size = [height, width] all shall have",
                    options_.train.front().file.string(), options_.size.height, options_.size.width, i.file.string(),
                    size.height, size.width)};
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
