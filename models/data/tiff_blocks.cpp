#include "models/data/tiff_blocks.hpp"

#include "models/data/tiff_file.hpp"
#include "models/data/tiff_samples.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace hydra {
namespace {

/// Strips or tiles. Strips are blocks as wide as the image.
class tiff_blocks {
 public:
  tiff_blocks(const tiff_file& file, const tiff_layout& layout) : file_(file), tiled_(TIFFIsTiled(file.get()) != 0) {
    const auto height = file.number<std::uint32_t>(tiled_ ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP);
    const auto width = tiled_ ? file.number<std::uint32_t>(TIFFTAG_TILEWIDTH) : layout.size.width;
    size_ = {tiled_ ? height : std::min<std::int64_t>(height, layout.size.height), width};
    row_bytes_ = tiled_ ? TIFFTileRowSize(file.get()) : TIFFScanlineSize(file.get());
    const tmsize_t bytes = tiled_ ? TIFFTileSize(file.get()) : TIFFStripSize(file.get());
    check(layout, bytes);
    decoded_.resize(static_cast<std::size_t>(bytes));
  }

  image_size size() const noexcept { return size_; }

  /// Decodes the block at this place.
  void read(std::int64_t y, std::int64_t x, unsigned plane) {
    const auto row = static_cast<std::uint32_t>(y), column = static_cast<std::uint32_t>(x);
    TIFF* const codec = file_.get();
    const auto most = static_cast<tmsize_t>(decoded_.size());
    const auto to = static_cast<std::uint16_t>(plane);
    const tmsize_t done =
        tiled_ ? TIFFReadEncodedTile(codec, TIFFComputeTile(codec, column, row, 0, to), decoded_.data(), most)
               : TIFFReadEncodedStrip(codec, TIFFComputeStrip(codec, row, to), decoded_.data(), most);
    file_.require_read(done >= 0);
  }

  const std::uint8_t* row(std::int64_t y) const { return &decoded_[static_cast<std::size_t>(y * row_bytes_)]; }

 private:
  /// What the library says of sizes, before memory is asked for and read by it.
  void check(const tiff_layout& layout, tmsize_t bytes) const {
    if (bytes > tiff_file::most_bytes)
      refuse(fmt::format("it has strips or tiles of {} bytes; at most {} are supported. Convert it to PNG", bytes,
                         tiff_file::most_bytes));
    const std::int64_t row_bits = size_.width * layout.bits * (layout.planar ? 1 : layout.samples);
    if (size_.height < 1 || size_.width < 1 || row_bytes_ < (row_bits + 7) / 8 || bytes / size_.height < row_bytes_)
      refuse("its strips or tiles are too large, or have no size");
  }

  const tiff_file& file_;
  bool tiled_;
  image_size size_{};
  tmsize_t row_bytes_ = 0;
  std::vector<std::uint8_t> decoded_;
};

/// Those that are used, of the pixels of a block at (y, x) that are in the image.
void take_block(const tiff_blocks& block, const tiff_layout& l, image_size at, unsigned plane, image& to) {
  const std::int64_t rows = std::min(block.size().height, l.size.height - at.height);
  const auto columns = static_cast<std::size_t>(std::min(block.size().width, l.size.width - at.width));
  const std::size_t stored = l.planar ? 1 : l.samples, taken = l.planar ? 1 : l.used;
  for (std::int64_t y = 0; y < rows; ++y) {
    const std::uint8_t* const row = block.row(y);
    auto* next = &to.pixels[static_cast<std::size_t>(((at.height + y) * l.size.width + at.width) * l.used) + plane];
    for (std::size_t x = 0; x < columns; ++x, next += l.used)
      for (std::size_t s = 0; s < taken; ++s) next[s] = sample_at(row, x * stored + s, l);
  }
}

}  // namespace

image read_samples(const tiff_file& file, const tiff_layout& l) {
  tiff_blocks blocks{file, l};
  image samples = image::blank(l.size, l.used);
  for (unsigned plane = 0; plane < (l.planar ? l.used : 1); ++plane)
    for (std::int64_t y = 0; y < l.size.height; y += blocks.size().height)
      for (std::int64_t x = 0; x < l.size.width; x += blocks.size().width) {
        blocks.read(y, x, plane);
        take_block(blocks, l, {y, x}, plane, samples);
      }
  return samples;
}

}  // namespace hydra
