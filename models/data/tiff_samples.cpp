#include "models/data/tiff_samples.hpp"

#include "models/data/printing_colours.hpp"

#include <algorithm>
#include <cstring>

namespace hydra {
namespace {

using rgb_value = std::array<std::uint8_t, 3>;

std::uint8_t part_of_byte(const std::uint8_t* row, std::size_t index, const tiff_layout& l) {
  const unsigned most = (1u << l.bits) - 1;
  const std::size_t first = index * l.bits;
  const unsigned value = (row[first / 8] >> (8 - l.bits - first % 8)) & most;
  return static_cast<std::uint8_t>(l.colours == tiff_colours::palette ? value : value * 255 / most);
}

/// libtiff has brought them into the byte order of the machine.
std::uint8_t in_8_bits(const std::uint8_t* row, std::size_t index, const tiff_layout& l) {
  std::uint16_t value = 0;
  std::memcpy(&value, row + 2 * index, sizeof value);
  return static_cast<std::uint8_t>(l.colours == tiff_colours::grey ? (value + 128) / 257 : value >> 8);
}

/// As Pillow: rounded down, and nothing of what is transparent.
std::uint8_t divided_by(std::uint8_t alpha, std::uint8_t value) {
  return static_cast<std::uint8_t>(alpha == 0 ? 0 : std::min(255, value * 255 / alpha));
}

rgb_value grey_of(const std::uint8_t* p, const tiff_layout& l) {
  rgb_value grey;
  grey.fill(l.inverted ? static_cast<std::uint8_t>(255 - p[0]) : p[0]);
  return grey;
}

rgb_value rgb_of_sample(const std::uint8_t* p, const tiff_layout& l, const tiff_palette& palette) {
  if (l.colours == tiff_colours::palette) return palette[p[0]];
  if (l.colours == tiff_colours::cmyk) return {printed(p[0], p[3]), printed(p[1], p[3]), printed(p[2], p[3])};
  rgb_value rgb = l.colours == tiff_colours::grey ? grey_of(p, l) : rgb_value{p[0], p[1], p[2]};
  if (l.premultiplied)
    for (std::uint8_t& value : rgb) value = divided_by(p[l.used - 1], value);
  return rgb;
}

}  // namespace

std::uint8_t sample_at(const std::uint8_t* row, std::size_t index, const tiff_layout& layout) {
  if (layout.bits == 8) return row[index];
  return layout.bits == 16 ? in_8_bits(row, index, layout) : part_of_byte(row, index, layout);
}

image rgb_of_samples(const image& samples, const tiff_layout& layout, const tiff_palette& palette) {
  image result = image::blank(samples.size, 3);
  std::uint8_t* next = result.pixels.data();
  for (std::size_t at = 0; at < samples.pixels.size(); at += layout.used)
    next = std::ranges::copy(rgb_of_sample(&samples.pixels[at], layout, palette), next).out;
  return result;
}

}  // namespace hydra
