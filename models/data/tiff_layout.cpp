#include "models/data/tiff_layout.hpp"

#include "models/data/tiff_file.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace hydra {
namespace {

[[noreturn]] void refuse_kind(const std::string& what, std::string_view supported) {
  refuse(fmt::format("{}; {} are supported. Convert it to PNG", what, supported));
}

/// Those that people have, whose decoders ask for no memory by a number in the file.
void check_compression(const tiff_file& file) {
  static constexpr std::array supported{
      COMPRESSION_NONE, COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3,     COMPRESSION_CCITTFAX4, COMPRESSION_LZW,
      COMPRESSION_JPEG, COMPRESSION_PACKBITS, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,   COMPRESSION_ZSTD};
  const auto found = file.number<std::uint16_t>(TIFFTAG_COMPRESSION);
  if (std::ranges::find(supported, found) != supported.end()) return;
  const TIFFCodec* const codec = TIFFFindCODEC(found);
  refuse_kind(fmt::format("its compression is {} ({})", found, codec != nullptr ? codec->name : "unknown"),
              "none, LZW, deflate, PackBits, JPEG, fax (CCITT) and Zstandard");
}

const char* name_of_colours(unsigned photometric) {
  switch (photometric) {
    case PHOTOMETRIC_MASK:
      return "a mask";
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
    case PHOTOMETRIC_ITULAB:
      return "L*a*b*";
    case PHOTOMETRIC_CFA:
      return "those of a camera's sensor";
    case PHOTOMETRIC_LOGL:
    case PHOTOMETRIC_LOGLUV:
      return "logarithms of light";
    default:
      return "unknown";
  }
}

tiff_colours colours_of(unsigned photometric) {
  switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
      return tiff_colours::grey;
    case PHOTOMETRIC_PALETTE:
      return tiff_colours::palette;
    case PHOTOMETRIC_RGB:
      return tiff_colours::rgb;
    case PHOTOMETRIC_SEPARATED:
      return tiff_colours::cmyk;
    case PHOTOMETRIC_YCBCR:
      return tiff_colours::ycbcr;
    default:
      refuse_kind(
          fmt::format("its colours are {} (photometric interpretation {})", name_of_colours(photometric), photometric),
          "grey, palette, RGB, CMYK and YCbCr");
  }
}

unsigned samples_of(tiff_colours colours) {
  if (colours == tiff_colours::grey || colours == tiff_colours::palette) return 1;
  return colours == tiff_colours::cmyk ? 4 : 3;
}

const char* name_of_samples(unsigned format) {
  switch (format) {
    case SAMPLEFORMAT_UINT:
      return "unsigned integers";
    case SAMPLEFORMAT_INT:
      return "signed integers";
    case SAMPLEFORMAT_IEEEFP:
      return "floating-point numbers";
    default:
      return "of another kind";
  }
}

bool has_bits(const tiff_layout& l) {
  if (l.bits == 8) return true;
  if (l.bits == 16) return l.colours != tiff_colours::palette && l.colours != tiff_colours::ycbcr;
  return l.samples == 1 && (l.bits == 1 || l.bits == 2 || l.bits == 4);
}

void check_tiff_samples(const tiff_file& file, const tiff_layout& l) {
  const auto format = file.number<std::uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  if (format != SAMPLEFORMAT_UINT || !has_bits(l))
    refuse_kind(fmt::format("its samples are {} of {} bits", name_of_samples(format), l.bits),
                "unsigned integers of 8 bits, of 16 in grey, RGB and CMYK, and of 1, 2 and 4 in grey and palettes");
  if (l.samples < samples_of(l.colours) || (l.colours == tiff_colours::ycbcr && l.samples != 3))
    refuse(fmt::format("it has {} samples per pixel, its colours have {}", l.samples, samples_of(l.colours)));
}

bool multiplied_by_alpha(const tiff_file& file, tiff_colours colours) {
  std::uint16_t count = 0;
  std::uint16_t* kinds = nullptr;
  TIFFGetFieldDefaulted(file.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds);
  return (colours == tiff_colours::grey || colours == tiff_colours::rgb) && count > 0 &&
         kinds[0] == EXTRASAMPLE_ASSOCALPHA;
}

}  // namespace

tiff_layout layout_of(const tiff_file& file) {
  check_compression(file);
  const auto photometric = file.number<std::uint16_t>(TIFFTAG_PHOTOMETRIC);
  tiff_layout l{
      .size = {file.number<std::uint32_t>(TIFFTAG_IMAGELENGTH), file.number<std::uint32_t>(TIFFTAG_IMAGEWIDTH)},
      .colours = colours_of(photometric),
      .inverted = photometric == PHOTOMETRIC_MINISWHITE,
      .bits = file.number<std::uint16_t>(TIFFTAG_BITSPERSAMPLE),
      .samples = file.number<std::uint16_t>(TIFFTAG_SAMPLESPERPIXEL)};
  check_tiff_samples(file, l);
  l.planar = file.number<std::uint16_t>(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE && l.samples > 1;
  l.premultiplied = multiplied_by_alpha(file, l.colours);
  l.used = samples_of(l.colours) + (l.premultiplied ? 1 : 0);
  if (l.used > l.samples)
    refuse(fmt::format("it has {} samples per pixel, its colours and their alpha have {}", l.samples, l.used));
  return l;
}

}  // namespace hydra
