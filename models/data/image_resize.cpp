#include "models/data/image_resize.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace hydra {
namespace {

constexpr int fraction_bits = 22;

/// For one target position: the source positions from `first` on and their weights.
struct taps {
  std::int64_t first = 0;
  std::vector<std::int32_t> weights{};
};

std::int32_t fixed(double weight) { return static_cast<std::int32_t>(0.5 + weight * (1 << fraction_bits)); }

taps taps_at(std::int64_t position, std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to), support = std::max(scale, 1.0);
  const double centre = (static_cast<double>(position) + 0.5) * scale;
  taps t{.first = std::max<std::int64_t>(static_cast<std::int64_t>(centre - support + 0.5), 0)};
  const std::int64_t end = std::min(static_cast<std::int64_t>(centre + support + 0.5), from);
  std::vector<double> triangle;
  double sum = 0;
  for (std::int64_t i = t.first; i < end; ++i) {
    const double distance = std::abs((static_cast<double>(i) - centre + 0.5) * (1 / support));
    sum += triangle.emplace_back(std::max(1 - distance, 0.0));
  }
  for (const double w : triangle) t.weights.push_back(fixed(w / sum));
  return t;
}

std::vector<taps> all_taps(std::int64_t from, std::int64_t to) {
  std::vector<taps> all;
  for (std::int64_t i = 0; i < to; ++i) all.push_back(taps_at(i, from, to));
  return all;
}

std::uint8_t rounded(std::int32_t sum) { return static_cast<std::uint8_t>(std::clamp(sum >> fraction_bits, 0, 255)); }

/// Weighted sums of neighbouring pixels.
template <std::size_t Channels>
void blend(const std::uint8_t* pixels, const taps& t, std::uint8_t* out) {
  std::array<std::int32_t, Channels> sums;
  sums.fill(1 << (fraction_bits - 1));
  const std::uint8_t* next = pixels + static_cast<std::size_t>(t.first) * Channels;
  for (const std::int32_t w : t.weights) {
    for (std::size_t c = 0; c < Channels; ++c) sums[c] += next[c] * w;
    next += Channels;
  }
  for (std::size_t c = 0; c < Channels; ++c) out[c] = rounded(sums[c]);
}

template <std::size_t Channels>
image narrowed(const image& from, std::int64_t width) {
  image result = image::blank({from.size.height, width}, from.channels);
  const std::vector<taps> all = all_taps(from.size.width, width);
  const std::uint8_t* row = from.pixels.data();
  std::uint8_t* out = result.pixels.data();
  for (std::int64_t y = 0; y < from.size.height; ++y) {
    for (const taps& t : all) {
      blend<Channels>(row, t, out);
      out += Channels;
    }
    row += static_cast<std::size_t>(from.size.width) * Channels;
  }
  return result;
}

/// Sums one row at a time, so that the inner loop reads memory sequentially.
void add_row(std::span<std::int32_t> sums, const std::uint8_t* row, std::int32_t weight) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += row[i] * weight;
}

image shortened(const image& from, std::int64_t height) {
  image result = image::blank({height, from.size.width}, from.channels);
  const auto stride = static_cast<std::size_t>(from.size.width * from.channels);
  std::vector<std::int32_t> sums(stride);
  std::uint8_t* out = result.pixels.data();
  for (const taps& t : all_taps(from.size.height, height)) {
    std::ranges::fill(sums, 1 << (fraction_bits - 1));
    const std::uint8_t* row = &from.pixels[static_cast<std::size_t>(t.first) * stride];
    for (const std::int32_t w : t.weights) {
      add_row(sums, row, w);
      row += stride;
    }
    for (const std::int32_t sum : sums) *out++ = rounded(sum);
  }
  return result;
}

}  // namespace

image resized(const image& from, image_size to) {
  if (from.size.width == to.width) return from.size.height == to.height ? from : shortened(from, to.height);
  const image narrow = from.channels == 1 ? narrowed<1>(from, to.width) : narrowed<3>(from, to.width);
  return from.size.height == to.height ? narrow : shortened(narrow, to.height);
}

}  // namespace hydra
