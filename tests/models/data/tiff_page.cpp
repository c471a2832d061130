#include "tests/models/data/tiff_page.hpp"

#include <tiffio.h>

namespace hydra::test {
namespace {

/// Writes numbers in a byte order.
class tiff_writer {
 public:
  explicit tiff_writer(bool big_endian) : big_endian_(big_endian) {}

  /// Head and directory, then the values that have no room in it. TIFF 6.0, section 2.
  std::string head(const tiff_fields& fields) const {
    const std::size_t behind = 8 + 2 + 12 * fields.size() + 4;
    std::string directory = number(fields.size(), 2), rest;
    for (const auto& [tag, values] : fields) {
      const std::size_t size = tag == TIFFTAG_XMLPACKET ? 1 : 4;
      directory += number(tag, 2) + number(size == 1 ? TIFF_BYTE : TIFF_LONG, 2) + number(values.size(), 4);
      std::string text;
      for (const std::uint32_t v : values) text += number(v, size);
      if (text.size() > 4) {
        directory += number(behind + rest.size(), 4);
        rest += text;
      } else {
        text.resize(4);
        directory += text;
      }
    }
    return (big_endian_ ? "MM" : "II") + number(42, 2) + number(8, 4) + directory + number(0, 4) + rest;
  }

 private:
  std::string number(std::size_t value, std::size_t bytes) const {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * (big_endian_ ? bytes - 1 - i : i));
    return text;
  }

  bool big_endian_;
};

}  // namespace

tiff_fields fields_of(std::uint32_t photometric, std::uint32_t samples, std::uint32_t bits, tiff_fields more) {
  more.merge(tiff_fields{{TIFFTAG_IMAGEWIDTH, {3}},
                         {TIFFTAG_IMAGELENGTH, {2}},
                         {TIFFTAG_BITSPERSAMPLE, std::vector(samples, bits)},
                         {TIFFTAG_COMPRESSION, {COMPRESSION_NONE}},
                         {TIFFTAG_PHOTOMETRIC, {photometric}},
                         {TIFFTAG_SAMPLESPERPIXEL, {samples}},
                         {TIFFTAG_ROWSPERSTRIP, {2}}});
  return more;
}

std::string tiff_page(tiff_fields fields, const std::vector<std::string>& blocks, bool big_endian) {
  const bool tiled = fields.contains(TIFFTAG_TILEWIDTH);
  auto& places = fields[tiled ? TIFFTAG_TILEOFFSETS : TIFFTAG_STRIPOFFSETS];
  auto& sizes = fields[tiled ? TIFFTAG_TILEBYTECOUNTS : TIFFTAG_STRIPBYTECOUNTS];
  places.resize(blocks.size());
  for (const std::string& b : blocks) sizes.push_back(static_cast<std::uint32_t>(b.size()));
  const tiff_writer writer{big_endian};
  auto end = static_cast<std::uint32_t>(writer.head(fields).size());
  for (std::size_t i = 0; i < blocks.size(); end += sizes[i++]) places[i] = end;
  std::string whole = writer.head(fields);
  for (const std::string& b : blocks) whole += b;
  return whole;
}

}  // namespace hydra::test
