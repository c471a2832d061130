#include "models/data/image_decoders.hpp"

#include "runtime/base/fault.hpp"

#include <string>

#include <png.h>

namespace hydra {
namespace {

/// The library's simple interface, after the header. Alpha is read, otherwise colours would be blended with a
/// background.
class png_codec {
 public:
  explicit png_codec(std::span<const std::byte> bytes) {
    codec_.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&codec_, bytes.data(), bytes.size())) refuse();
    codec_.format = PNG_FORMAT_RGBA;
    codec_.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // 16 bits have the same gamma as 8, unless the file says otherwise
  }
  ~png_codec() { png_image_free(&codec_); }
  png_codec(const png_codec&) = delete;
  png_codec& operator=(const png_codec&) = delete;

  image_size size() const noexcept { return {codec_.height, codec_.width}; }

  void decode(std::span<std::uint8_t> rgba) {
    if (!png_image_finish_read(&codec_, nullptr, rgba.data(), 0, nullptr)) refuse();
  }

 private:
  [[noreturn]] void refuse() {
    const std::string text = codec_.message;
    png_image_free(&codec_);
    throw fault_error{fault_code::bad_input, text};
  }

  png_image codec_{};
};

}  // namespace

image_size png_size(std::span<const std::byte> bytes) { return png_codec{bytes}.size(); }

image decode_png(std::span<const std::byte> bytes) {
  png_codec codec{bytes};
  image all = image::blank(codec.size(), 4);
  codec.decode(all.pixels);
  image result = image::blank(codec.size(), 3);
  for (std::size_t i = 0; i < result.pixels.size(); ++i) result.pixels[i] = all.pixels[i / 3 * 4 + i % 3];
  return result;
}

}  // namespace hydra
