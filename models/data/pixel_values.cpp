#include "models/data/pixel_values.hpp"

#include "models/random.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hydra {
namespace {

void check(const std::vector<double>& numbers, std::int64_t channels, std::string_view data, const char* what) {
  if (static_cast<std::int64_t>(numbers.size()) != channels)
    refuse(fmt::format("{}: {} has {} numbers; the images have {} channels", data, what, numbers.size(), channels));
  if (!std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }))
    refuse(fmt::format("{}: {} holds a number that is not finite", data, what));
}

}  // namespace

pixel_values::pixel_values(const pixel_scale& scale, std::int64_t channels, std::string_view data) {
  check(scale.mean, channels, data, "mean");
  check(scale.deviation, channels, data, "deviation");
  if (std::ranges::min(scale.deviation) <= 0) refuse(fmt::format("{}: each deviation must be above 0", data));
  tables_.resize(static_cast<std::size_t>(channels));
  for (std::size_t c = 0; c < tables_.size(); ++c)
    for (std::size_t v = 0; v < 256; ++v)
      tables_[c][v] = static_cast<float>((static_cast<double>(v) / 255 - scale.mean[c]) / scale.deviation[c]);
}

void pixel_values::write(const image& from, bool mirrored, std::span<float> out) const {
  const auto height = static_cast<std::size_t>(from.size.height), width = static_cast<std::size_t>(from.size.width);
  const std::size_t channels = tables_.size();
  float* next = out.data();
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t x = 0; x < width; ++x)
        *next++ = (*this)(c, from.pixels[(y * width + (mirrored ? width - 1 - x : x)) * channels + c]);
}

pixel_scale with_defaults(pixel_scale scale, std::int64_t channels) {
  if (scale.mean.empty()) scale.mean = channels == 1 ? std::vector{0.449} : std::vector{0.485, 0.456, 0.406};
  if (scale.deviation.empty()) scale.deviation = channels == 1 ? std::vector{0.226} : std::vector{0.229, 0.224, 0.225};
  return scale;
}

bool is_mirrored(std::uint64_t seed, std::size_t index) noexcept {
  return random_bits(random_key({seed, 3}), index) & 1;
}

}  // namespace hydra
