#include "models/data/image_orientation.hpp"

#include "models/data/exif_directory.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace hydra {
namespace {

using namespace std::string_view_literals;

std::optional<std::size_t> exif_orientation(std::string_view block) {
  constexpr auto introduction = "Exif\0\0"sv;
  constexpr std::size_t orientation = 0x0112;
  while (block.starts_with(introduction)) block.remove_prefix(introduction.size());
  return directory_number(block, orientation);
}

/// An attribute or an element: tiff:Orientation="6", <tiff:Orientation>6<.
std::optional<std::size_t> xmp_orientation(std::string_view xml) {
  constexpr auto name = "tiff:Orientation"sv;
  for (auto at = xml.find(name); at != xml.npos; at = xml.find(name, at + 1)) {
    std::string_view rest = xml.substr(at + name.size());
    if (!rest.starts_with("=\"") && !rest.starts_with('>')) continue;
    rest.remove_prefix(rest.starts_with('>') ? 1 : 2);
    if (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') return static_cast<std::size_t>(rest[0] - '0');
  }
  return std::nullopt;
}

bool swaps_sides(int orientation) { return orientation >= 5; }
bool from_below(int orientation) {
  return orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
}
bool from_the_right(int orientation) { return orientation == 2 || orientation == 3 || orientation >= 7; }

}  // namespace

int orientation_of(const orientation_tags& tags) {
  auto found = exif_orientation(tags.exif);
  if (!found) found = xmp_orientation(tags.xmp);
  return found && *found >= 1 && *found <= 8 ? static_cast<int>(*found) : 1;
}

image_size upright(image_size stored, int orientation) {
  if (swaps_sides(orientation)) std::swap(stored.height, stored.width);
  return stored;
}

image upright(image stored, int orientation) {
  if (orientation == 1) return stored;
  image result = image::blank(upright(stored.size, orientation), stored.channels);
  std::uint8_t* next = result.pixels.data();
  for (std::int64_t y = 0; y < result.size.height; ++y)
    for (std::int64_t x = 0; x < result.size.width; ++x) {
      std::int64_t row = swaps_sides(orientation) ? x : y, column = swaps_sides(orientation) ? y : x;
      if (from_below(orientation)) row = stored.size.height - 1 - row;
      if (from_the_right(orientation)) column = stored.size.width - 1 - column;
      next = std::copy_n(&stored.pixels[static_cast<std::size_t>((row * stored.size.width + column) * stored.channels)],
                         stored.channels, next);
    }
  return result;
}

}  // namespace hydra
