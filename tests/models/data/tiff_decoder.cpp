#include "models/data/image_decoders.hpp"
#include "models/data/image_file.hpp"
#include "models/data/image_orientation.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/data/image_writers.hpp"
#include "tests/models/data/tiff_page.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cstdarg>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tiffio.h>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

std::vector<std::uint32_t> xmp_values(const std::string& text) { return {text.begin(), text.end()}; }

/// Why these bytes are refused; empty if they are read. Images of many pixels, which damaged bytes may claim, are not
/// decoded.
std::string refusal_of(std::string_view bytes) {
  const auto of_file = std::as_bytes(std::span{bytes});
  try {
    const image_size size = tiff_format().header(of_file).size;
    if (size.height > 1000 || size.width > 1000) return {};
    const image decoded = tiff_format().decode(of_file);
    CHECK(decoded.size == size);
    return {};
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    return e.what_happened().text;
  }
}

struct tiff_kind {
  const char* name;
  tiff_fields fields;
  std::vector<const char*> blocks;  ///< hexadecimal digits
  std::vector<std::uint8_t> pixels;
  bool big_endian = false;

  std::string bytes() const {
    std::vector<std::string> all;
    for (const char* digits : blocks) all.push_back(from_hex(digits));
    return tiff_page(fields, all, big_endian);
  }
};

// Expected values: Pillow 13, exif_transpose(...).convert("RGB"). It makes grey of 16 bits white; here that is rounded
// to 8.
std::vector<tiff_kind> tiff_kinds() {
  const std::vector<std::uint8_t> grey{0, 0, 0, 40, 40, 40, 80, 80, 80, 120, 120, 120, 160, 160, 160, 255, 255, 255};
  const std::vector<std::uint8_t> black_and_white{0, 0, 0, 255, 255, 255, 255, 255, 255,
                                                  0, 0, 0, 255, 255, 255, 0,   0,   0};
  const std::vector<std::uint8_t> colours{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19};
  const auto packed = [](std::uint32_t scheme, tiff_fields more = {}) {
    more[TIFFTAG_COMPRESSION] = {scheme};
    return more;
  };
  return {{"grey", fields_of(PHOTOMETRIC_MINISBLACK, 1, 8), {"00285078a0ff"}, grey},
          {"grey, 0 is white", fields_of(PHOTOMETRIC_MINISWHITE, 1, 8), {"ffd7af875f00"}, grey},
          {"grey, alpha",
           fields_of(PHOTOMETRIC_MINISBLACK, 2, 8, {{TIFFTAG_EXTRASAMPLES, {EXTRASAMPLE_UNASSALPHA}}}),
           {"00ff28ff50007805a0ffff00"},
           grey},
          {"1 bit", fields_of(PHOTOMETRIC_MINISBLACK, 1, 1), {"6040"}, black_and_white},
          {"1 bit, 0 is white", fields_of(PHOTOMETRIC_MINISWHITE, 1, 1), {"9fbf"}, black_and_white},
          {"1 bit, from the right",
           fields_of(PHOTOMETRIC_MINISBLACK, 1, 1, {{TIFFTAG_FILLORDER, {2}}}),
           {"0602"},
           black_and_white},
          {"4 bits",
           fields_of(PHOTOMETRIC_MINISBLACK, 1, 4),
           {"07f01230"},
           {0, 0, 0, 119, 119, 119, 255, 255, 255, 17, 17, 17, 34, 34, 34, 51, 51, 51}},
          {"palette of 2 bits",
           fields_of(PHOTOMETRIC_PALETTE, 1, 2,
                     {{TIFFTAG_COLORMAP,
                       {0x0aff, 0xc800, 0, 0x07ff, 0x14ff, 0x6400, 0xff00, 0x0800, 0x1eff, 0x3200, 0x8000, 0x09ff}}}),
           {"18e4"},
           {10, 20, 30, 200, 100, 50, 0, 255, 128, 7, 8, 9, 0, 255, 128, 200, 100, 50}},
          {"colours, a strip for each row",
           fields_of(PHOTOMETRIC_RGB, 3, 8, {{TIFFTAG_ROWSPERSTRIP, {1}}}),
           {"010203040506070809", "0b0c0d0e0f10111213"},
           colours},
          {"colours, a plane for each",
           fields_of(PHOTOMETRIC_RGB, 3, 8, {{TIFFTAG_PLANARCONFIG, {PLANARCONFIG_SEPARATE}}}),
           {"0104070b0e11", "0205080c0f12", "0306090d1013"},
           colours},
          {"colours, alpha",
           fields_of(PHOTOMETRIC_RGB, 4, 8, {{TIFFTAG_EXTRASAMPLES, {EXTRASAMPLE_UNASSALPHA}}}),
           {"01020300040506ff070809800b0c0d010e0f10ff11121300"},
           colours},
          {"colours, multiplied by alpha",
           fields_of(PHOTOMETRIC_RGB, 4, 8, {{TIFFTAG_EXTRASAMPLES, {EXTRASAMPLE_ASSOCALPHA}}}),
           {"0a141e80c8643280ffffff000102030404060870070809ff"},
           {19, 39, 59, 255, 199, 99, 0, 0, 0, 63, 127, 191, 9, 13, 18, 7, 8, 9}},
          {"printing colours",
           fields_of(PHOTOMETRIC_SEPARATED, 4, 8),
           {"00000000ff000000379bcd7f0a141e2800ff00800000ff01"},
           {255, 255, 255, 0, 255, 255, 100, 50, 25, 207, 198, 190, 127, 0, 127, 254, 254, 0}},
          {"grey of 16 bits, big-endian",
           fields_of(PHOTOMETRIC_MINISBLACK, 1, 16),
           {"0000008000818000fefefeff"},
           {0, 0, 0, 0, 0, 0, 1, 1, 1, 128, 128, 128, 254, 254, 254, 254, 254, 254},
           true},
          {"colours of 16 bits, big-endian",
           fields_of(PHOTOMETRIC_RGB, 3, 16),
           {"01ff020003ff04ff0580060007ff080009ff0bff0c000dff0eff0f001000110012ff1300"},
           colours,
           true},
          {"YCbCr, deflate, colours of two pixels in one",
           fields_of(PHOTOMETRIC_YCBCR, 3, 8, packed(COMPRESSION_ADOBE_DEFLATE, {{TIFFTAG_YCBCRSUBSAMPLING, {2, 1}}})),
           {"789c1370085830e1448281c28f030e050c0bfe0300379f0750"},
           {61, 10, 0, 109, 58, 0, 32, 212, 87, 0, 56, 145, 158, 255, 255, 255, 10, 169}},
          {"LZW",
           fields_of(PHOTOMETRIC_RGB, 3, 8, packed(COMPRESSION_LZW)),
           {"800040403020140c0704024160c068381e100884827010"},
           colours},
          {"deflate, differences",
           fields_of(PHOTOMETRIC_RGB, 3, 8, packed(COMPRESSION_ADOBE_DEFLATE, {{TIFFTAG_PREDICTOR, {2}}})),
           {"789c63646286006e1e5e08030002b4004f"},
           colours},
          {"PackBits",
           fields_of(PHOTOMETRIC_RGB, 3, 8, packed(COMPRESSION_PACKBITS)),
           {"08010203040506070809080b0c0d0e0f10111213"},
           colours},
          {"Zstandard",
           fields_of(PHOTOMETRIC_RGB, 3, 8, packed(COMPRESSION_ZSTD)),
           {"28b52ffd00609100000102030405060708090b0c0d0e0f10111213"},
           colours},
          {"fax, group 3",
           fields_of(PHOTOMETRIC_MINISBLACK, 1, 1, packed(COMPRESSION_CCITTFAX3)),
           {"0011f0011d0e"},
           black_and_white},
          {"fax, group 4",
           fields_of(PHOTOMETRIC_MINISBLACK, 1, 1, packed(COMPRESSION_CCITTFAX4)),
           {"0b50010010"},
           black_and_white}};
}

}  // namespace

TEST_CASE("TIFF files of every kind have the pixels that Pillow makes of them") {
  const temporary_folder folder;
  for (const tiff_kind& kind : tiff_kinds()) {
    CAPTURE(kind.name);
    CHECK(decode_image(folder.write(kind.name, kind.bytes()), 3).pixels == kind.pixels);
  }
}

TEST_CASE("a TIFF file that ends anywhere before its end is refused") {
  for (const tiff_kind& kind : tiff_kinds()) {
    const std::string whole = kind.bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(kind.name, size);
      CHECK(refusal_of(whole.substr(0, size)) != "");
    }
  }
}

TEST_CASE("a TIFF file with a damaged byte is read or refused, and libtiff writes nothing to stderr") {
  static int heard = 0;
  const auto errors = TIFFSetErrorHandler([](const char*, const char*, va_list) { ++heard; });
  const auto warnings = TIFFSetWarningHandler([](const char*, const char*, va_list) { ++heard; });
  for (const tiff_kind& kind : tiff_kinds()) {
    std::string bytes = kind.bytes();
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      CAPTURE(kind.name, at);
      const char right = std::exchange(bytes[at], static_cast<char>(bytes[at] ^ (at % 2 ? 0x80 : 0x05)));
      refusal_of(bytes);
      bytes[at] = right;
    }
  }
  TIFFSetErrorHandler(errors);
  TIFFSetWarningHandler(warnings);
  CHECK(heard == 0);
}

TEST_CASE("a TIFF file in tiles has the pixels of the image, without what the last tiles have beyond it") {
  const temporary_folder folder;
  const image whole = ramp({18, 20}, 3);
  for (const std::uint32_t planes : {1, 3}) {
    std::vector<std::string> tiles;
    for (std::uint32_t plane = 0; plane < planes; ++plane)
      for (const int tile : {0, 1, 2, 3}) {
        std::string& bytes = tiles.emplace_back();
        for (int i = 0; i < 16 * 16; ++i)
          for (std::uint32_t c = plane; c < (planes == 1 ? 3 : plane + 1); ++c) {
            const int y = 16 * (tile / 2) + i / 16, x = 16 * (tile % 2) + i % 16;
            bytes += y < 18 && x < 20 ? static_cast<char>(whole.pixels[static_cast<std::size_t>(3 * (20 * y + x)) + c])
                                      : '\xEE';
          }
      }
    const tiff_fields fields =
        fields_of(PHOTOMETRIC_RGB, 3, 8,
                  {{TIFFTAG_IMAGEWIDTH, {20}},
                   {TIFFTAG_IMAGELENGTH, {18}},
                   {TIFFTAG_TILEWIDTH, {16}},
                   {TIFFTAG_TILELENGTH, {16}},
                   {TIFFTAG_PLANARCONFIG, {planes == 1 ? std::uint32_t{PLANARCONFIG_CONTIG} : PLANARCONFIG_SEPARATE}}});
    CHECK(decode_image(folder.write("a.tif", tiff_page(fields, tiles)), 3).pixels == whole.pixels);
  }
}

TEST_CASE("JPEG in a TIFF file has the pixels of the JPEG file, and is refused where it is damaged") {
  const temporary_folder folder;
  for (const std::uint32_t channels : {1, 3}) {
    write_jpeg(folder.path() / "a.jpg", ramp({16, 24}, channels), 90);
    std::ifstream in{folder.path() / "a.jpg", std::ios::binary};
    std::string jpeg{std::istreambuf_iterator<char>(in), {}};
    const tiff_fields fields = fields_of(channels == 3 ? PHOTOMETRIC_YCBCR : PHOTOMETRIC_MINISBLACK, channels, 8,
                                         {{TIFFTAG_COMPRESSION, {COMPRESSION_JPEG}},
                                          {TIFFTAG_IMAGEWIDTH, {24}},
                                          {TIFFTAG_IMAGELENGTH, {16}},
                                          {TIFFTAG_ROWSPERSTRIP, {16}}});
    CHECK(decode_image(folder.write("a.tif", tiff_page(fields, {jpeg})), 3).pixels ==
          decode_image(folder.path() / "a.jpg", 3).pixels);
    jpeg.resize(jpeg.size() - 20);
    CHECK_THROWS_WITH(decode_image(folder.write("a.tif", tiff_page(fields, {jpeg})), 3),
                      Contains("a.tif cannot be read as an image: its pixels are damaged: "));
  }
}

TEST_CASE("the orientation of a TIFF file is applied; XMP counts where no tag says it") {
  const temporary_folder folder;
  const std::string turned = "<x tiff:Orientation=\"6\"/>";
  const image stored{{2, 3}, 1, {0, 40, 80, 120, 160, 255}};
  const auto with = [&](tiff_fields more) {
    return folder.write(
        "a.tif", tiff_page(fields_of(PHOTOMETRIC_MINISBLACK, 1, 8, std::move(more)), {from_hex("00285078a0ff")}));
  };
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const auto file = with(
        {{TIFFTAG_ORIENTATION, {static_cast<std::uint32_t>(orientation)}}, {TIFFTAG_XMLPACKET, xmp_values(turned)}});
    CHECK(decode_image(file, 1).pixels == upright(stored, orientation).pixels);
    CHECK(outline_of(file).size == upright(stored.size, orientation));
  }
  CHECK(decode_image(with({{TIFFTAG_XMLPACKET, xmp_values(turned)}}), 1).pixels == upright(stored, 6).pixels);
}

TEST_CASE("of several pages of a TIFF file the first is read") {
  const temporary_folder folder;
  std::string first = tiff_page(fields_of(PHOTOMETRIC_MINISBLACK, 1, 8), {from_hex("00285078a0ff")});
  const std::size_t next = 8 + 2 + 12 * 9;
  first.replace(next, 4, std::string{"\x08\0\0\0", 4});  // the directory again: a ring
  const auto file = folder.write("a.tif", first);
  CHECK(decode_image(file, 1).pixels == std::vector<std::uint8_t>{0, 40, 80, 120, 160, 255});
  CHECK(outline_of(file).several);
}

TEST_CASE("kinds of TIFF files that are not read are refused by name, with what to do") {
  const temporary_folder folder;
  const std::string strip(96, '\1');
  const auto refused = [&](tiff_fields fields, const std::string& why) {
    const auto file = folder.write("a.tif", tiff_page(std::move(fields), {strip}));
    CHECK_THROWS_WITH(outline_of(file), Contains("a.tif cannot be read as an image: " + why));
    CHECK_THROWS_WITH(decode_image(file, 3), Contains(why));
  };
  refused(fields_of(PHOTOMETRIC_MINISBLACK, 1, 32, {{TIFFTAG_SAMPLEFORMAT, {SAMPLEFORMAT_IEEEFP}}}),
          "its samples are floating-point numbers of 32 bits; unsigned integers of 8 bits, ");
  refused(fields_of(PHOTOMETRIC_MINISBLACK, 1, 12), "its samples are unsigned integers of 12 bits; ");
  refused(fields_of(PHOTOMETRIC_RGB, 3, 4), "its samples are unsigned integers of 4 bits; ");
  refused(fields_of(PHOTOMETRIC_CIELAB, 3, 8),
          "its colours are L*a*b* (photometric interpretation 8); grey, palette, RGB, CMYK and YCbCr are supported. "
          "Convert "
          "it to PNG");
  refused(fields_of(PHOTOMETRIC_MINISBLACK, 1, 8, {{TIFFTAG_COMPRESSION, {COMPRESSION_LZMA}}}),
          "its compression is 34925 (LZMA); none, LZW, ");
  refused(fields_of(PHOTOMETRIC_MINISBLACK, 1, 8, {{TIFFTAG_COMPRESSION, {777}}}),
          "its compression is 777 (unknown); ");
  refused(fields_of(PHOTOMETRIC_RGB, 2, 8), "it has 2 samples per pixel, its colours have 3");
  refused(fields_of(PHOTOMETRIC_RGB, 3, 8, {{TIFFTAG_EXTRASAMPLES, {EXTRASAMPLE_ASSOCALPHA}}}),
          "it has 3 samples per pixel, its colours and their alpha have 4");
  refused(fields_of(PHOTOMETRIC_MINISBLACK, 1, 8, {{TIFFTAG_EXTRASAMPLES, {EXTRASAMPLE_ASSOCALPHA}}}),
          "it has 1 samples per pixel, its colours and their alpha have 2");
}

TEST_CASE("a small TIFF file that claims a huge image, strip or tile is refused") {
  const temporary_folder folder;
  const std::vector<std::uint32_t> huge{1u << 30}, much{1u << 20};
  const auto file_of = [&](tiff_fields more) {
    return folder.write("a.tif", tiff_page(fields_of(PHOTOMETRIC_RGB, 3, 8, std::move(more)), {std::string(18, '\1')}));
  };
  const auto wide = file_of({{TIFFTAG_IMAGEWIDTH, huge}, {TIFFTAG_COMPRESSION, {COMPRESSION_PACKBITS}}});
  CHECK_THROWS_WITH(outline_of(wide), Contains("it is 2 x 1073741824 pixels; 1 to 268435456 are supported"));
  CHECK_THROWS_WITH(decode_image(wide, 3), Contains("it is 2 x 1073741824 pixels"));
  CHECK_THROWS_WITH(outline_of(file_of({{TIFFTAG_IMAGELENGTH, huge}, {TIFFTAG_ROWSPERSTRIP, {1}}})),
                    Contains("it is damaged, or its end is missing"));
  CHECK_THROWS_WITH(decode_image(file_of({{TIFFTAG_TILEWIDTH, much}, {TIFFTAG_TILELENGTH, much}}), 3),
                    Contains("it has strips or tiles of 3298534883328 bytes; at most 1073741824 are supported"));
}
