#include "models/data/image_decoders.hpp"
#include "models/data/image_orientation.hpp"
#include "models/data/tiff_blocks.hpp"
#include "models/data/tiff_file.hpp"
#include "models/data/tiff_layout.hpp"
#include "models/data/tiff_samples.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <vector>

namespace hydra {
namespace {

using namespace std::string_view_literals;

tiff_palette palette_of(const tiff_file& file, const tiff_layout& l) {
  std::array<std::uint16_t*, 3> maps{};
  if (!TIFFGetField(file.get(), TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2])) refuse("it has no palette (ColorMap)");
  tiff_palette palette{};
  for (std::size_t i = 0; i < std::size_t{1} << l.bits; ++i)
    for (std::size_t c = 0; c < maps.size(); ++c) palette[i][c] = static_cast<std::uint8_t>(maps[c][i] >> 8);
  return palette;
}

/// YCbCr by libtiff's own conversion, which knows the places of colours that are stored for several pixels.
image read_as_rgb(const tiff_file& file, const tiff_layout& l) {
  char text[1024] = "";
  TIFFRGBAImage reader{};
  if (!TIFFRGBAImageBegin(&reader, file.get(), 1, text)) refuse(fmt::format("its colours cannot be read: {}", text));
  const std::unique_ptr<TIFFRGBAImage, decltype(&TIFFRGBAImageEnd)> ending{&reader, TIFFRGBAImageEnd};
  reader.orientation = reader.req_orientation = ORIENTATION_TOPLEFT;  // as stored
  std::vector<std::uint32_t> pixels(static_cast<std::size_t>(l.size.height * l.size.width));
  file.require_read(TIFFRGBAImageGet(&reader, pixels.data(), reader.width, reader.height) != 0);
  image result = image::blank(l.size, 3);
  for (std::size_t i = 0; i < result.pixels.size(); ++i)
    result.pixels[i] = static_cast<std::uint8_t>(pixels[i / 3] >> (i % 3 * 8));
  return result;
}

/// Those of JPEG are converted by libjpeg, as for Pillow.
bool is_converted_by_libjpeg(const tiff_file& file, const tiff_layout& l) {
  return l.colours == tiff_colours::ycbcr && !l.planar &&
         file.number<std::uint16_t>(TIFFTAG_COMPRESSION) == COMPRESSION_JPEG &&
         TIFFSetField(file.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB) != 0;
}

/// libtiff would notice it only where it reads the pixels.
void require_blocks(const tiff_file& file, std::size_t bytes) {
  const bool tiled = TIFFIsTiled(file.get()) != 0;
  const std::uint32_t count = tiled ? TIFFNumberOfTiles(file.get()) : TIFFNumberOfStrips(file.get());
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t begin = TIFFGetStrileOffset(file.get(), i), size = TIFFGetStrileByteCount(file.get(), i);
    require_end(size > 0 && size <= bytes && begin <= bytes - size);
  }
}

/// XMP counts where no tag says it, as for Pillow.
int orientation_of_tiff(const tiff_file& file) {
  std::uint16_t stored = 0;
  if (TIFFGetField(file.get(), TIFFTAG_ORIENTATION, &stored)) return stored;
  std::uint32_t length = 0;
  const char* xmp = nullptr;
  if (!TIFFGetField(file.get(), TIFFTAG_XMLPACKET, &length, &xmp)) return 1;
  return orientation_of({.xmp = {xmp, length}});
}

image_header tiff_header(std::span<const std::byte> bytes) {
  const tiff_file file{bytes};
  const tiff_layout layout = layout_of(file);
  require_blocks(file, bytes.size());
  return {layout.size, orientation_of_tiff(file), TIFFLastDirectory(file.get()) == 0};
}

image decode_tiff(std::span<const std::byte> bytes) {
  const tiff_file file{bytes};
  tiff_layout layout = layout_of(file);
  if (is_converted_by_libjpeg(file, layout)) layout.colours = tiff_colours::rgb;
  if (layout.colours == tiff_colours::ycbcr) return read_as_rgb(file, layout);
  const tiff_palette palette = layout.colours == tiff_colours::palette ? palette_of(file, layout) : tiff_palette{};
  return rgb_of_samples(read_samples(file, layout), layout, palette);
}

/// The second and fourth: with offsets of 64 bits (BigTIFF).
bool begins_tiff(std::string_view bytes) {
  static constexpr std::array beginnings{"II*\0"sv, "II+\0"sv, "MM\0*"sv, "MM\0+"sv};
  return std::ranges::find(beginnings, bytes.substr(0, 4)) != beginnings.end();
}

}  // namespace

image_format tiff_format() { return {begins_tiff, tiff_header, decode_tiff}; }

}  // namespace hydra
