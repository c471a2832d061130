#include "models/data/image_decoders.hpp"
#include "runtime/base/refuse.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gif_lib.h>

namespace hydra {
namespace {

/// Stands before the pixels of the first image after its constructor.
class gif_codec {
 public:
  explicit gif_codec(std::span<const std::byte> bytes) : rest_(bytes) {
    int error = 0;
    codec_.reset(DGifOpen(this, take, &error));
    if (!codec_) refuse(message(error));
    find_image();
  }
  gif_codec(const gif_codec&) = delete;
  gif_codec& operator=(const gif_codec&) = delete;

  /// The screen, which is as large as its images.
  image_size size() const {
    const GifImageDesc& at = codec_->Image;
    return {std::max(codec_->SHeight, at.Top + at.Height), std::max(codec_->SWidth, at.Left + at.Width)};
  }

  /// Reads over the pixels.
  void skip_pixels() {
    int bits = 0;
    GifByteType* block = nullptr;
    require(DGifGetCode(codec_.get(), &bits, &block));
    while (block != nullptr) require(DGifGetCodeNext(codec_.get(), &block));
  }

  /// Whether another image follows, behind the pixels. Nothing is refused there: it is not read.
  bool goes_on() {
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    while (DGifGetRecordType(codec_.get(), &type) == GIF_OK && type == EXTENSION_RECORD_TYPE)
      if (!skip_extension()) return false;
    return type == IMAGE_DESC_RECORD_TYPE;
  }

  /// The image on a screen of the transparent colour, whose red, green and blue count: as Pillow converts it.
  image decode() {
    const image_size screen = size();
    std::vector<GifPixelType> indices(static_cast<std::size_t>(screen.height * screen.width), background_);
    const GifImageDesc& at = codec_->Image;
    for (const int y : order_of_rows())
      require(DGifGetLine(codec_.get(), &indices[static_cast<std::size_t>((at.Top + y) * screen.width + at.Left)],
                          at.Width));
    const auto colours = palette();
    image result = image::blank(screen, 3);
    for (std::size_t i = 0; i < result.pixels.size(); ++i) result.pixels[i] = colours[indices[i / 3]][i % 3];
    return result;
  }

 private:
  struct closing {
    void operator()(GifFileType* codec) const { DGifCloseFile(codec, nullptr); }
  };

  static int take(GifFileType* codec, GifByteType* to, int count) {
    auto& rest = static_cast<gif_codec*>(codec->UserData)->rest_;
    const std::size_t taken = std::min(static_cast<std::size_t>(count), rest.size());
    std::memcpy(to, rest.data(), taken);
    rest = rest.subspan(taken);
    return static_cast<int>(taken);
  }

  static std::string message(int error) {
    const char* const text = GifErrorString(error);
    return error == D_GIF_ERR_READ_FAILED || error == D_GIF_ERR_EOF_TOO_SOON || text == nullptr ? "its end is missing"
                                                                                                : text;
  }

  void require(int status) const {
    if (status != GIF_OK) refuse(message(codec_->Error));
  }

  void find_image() {
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    while (type != IMAGE_DESC_RECORD_TYPE) {
      require(DGifGetRecordType(codec_.get(), &type));
      if (type == TERMINATE_RECORD_TYPE) refuse("it holds no image");
      if (type == EXTENSION_RECORD_TYPE) read_extension();
    }
    require(DGifGetImageDesc(codec_.get()));
  }

  bool skip_extension() {
    int kind = 0;
    GifByteType* block = nullptr;
    bool good = DGifGetExtension(codec_.get(), &kind, &block) == GIF_OK;
    while (good && block != nullptr) good = DGifGetExtensionNext(codec_.get(), &block) == GIF_OK;
    return good;
  }

  void read_extension() {
    int kind = 0;
    GifByteType* block = nullptr;
    require(DGifGetExtension(codec_.get(), &kind, &block));
    GraphicsControlBlock control{};
    if (kind == GRAPHICS_EXT_FUNC_CODE && block != nullptr &&
        DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
      background_ = static_cast<GifPixelType>(std::max(control.TransparentColor, 0));
    while (block != nullptr) require(DGifGetExtensionNext(codec_.get(), &block));
  }

  std::vector<int> order_of_rows() const {
    struct pass {
      int first, step;
    };
    const auto passes =
        codec_->Image.Interlace ? std::vector<pass>{{0, 8}, {4, 8}, {2, 4}, {1, 2}} : std::vector<pass>{{0, 1}};
    std::vector<int> rows;
    for (const pass p : passes)
      for (int y = p.first; y < codec_->Image.Height; y += p.step) rows.push_back(y);
    return rows;
  }

  /// Without a palette, and beyond its end, indices are greys.
  std::array<std::array<std::uint8_t, 3>, 256> palette() const {
    std::array<std::array<std::uint8_t, 3>, 256> colours;
    for (std::size_t i = 0; i < colours.size(); ++i) colours[i].fill(static_cast<std::uint8_t>(i));
    const ColorMapObject* const map = codec_->Image.ColorMap ? codec_->Image.ColorMap : codec_->SColorMap;
    for (int i = 0; map != nullptr && i < map->ColorCount; ++i)
      colours[static_cast<std::size_t>(i)] = {map->Colors[i].Red, map->Colors[i].Green, map->Colors[i].Blue};
    return colours;
  }

  std::span<const std::byte> rest_;
  std::unique_ptr<GifFileType, closing> codec_;
  GifPixelType background_ = 0;
};

image_header gif_header(std::span<const std::byte> bytes) {
  gif_codec codec{bytes};
  codec.skip_pixels();
  return {.size = codec.size(), .several = codec.goes_on()};
}

image decode_gif(std::span<const std::byte> bytes) { return gif_codec{bytes}.decode(); }

}  // namespace

image_format gif_format() {
  return {[](std::string_view bytes) { return bytes.starts_with("GIF8"); }, gif_header, decode_gif};
}

}  // namespace hydra
