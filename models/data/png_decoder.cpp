#include "models/data/image_decoders.hpp"
#include "models/data/image_orientation.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"

#include <csetjmp>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <png.h>

namespace hydra {
namespace {

using namespace std::string_view_literals;

/// A decoder that has read the header, after start(). Values are taken as they are, as by Pillow: what the file says
/// about its gamma and colours is not applied. Errors jump back, as those of JPEG.
class png_codec {
 public:
  png_codec()
      : codec_(png_create_read_struct(PNG_LIBPNG_VER_STRING, this, leave_png, [](png_structp, png_const_charp) {})) {
    if (codec_) info_ = png_create_info_struct(codec_);
    if (!info_) throw fault_error{fault_code::internal, "libpng has no memory"};
  }
  ~png_codec() { png_destroy_read_struct(&codec_, &info_, nullptr); }
  png_codec(const png_codec&) = delete;
  png_codec& operator=(const png_codec&) = delete;

  image_size start(std::span<const std::byte> bytes) {
    rest_ = bytes;
    if (setjmp(back_)) refuse_png();
    png_set_read_fn(codec_, this, take);
    png_read_info(codec_, info_);
    return {png_get_image_height(codec_, info_), png_get_image_width(codec_, info_)};
  }

  /// Decodes all rows as RGB. Alpha is dropped. Of 16 bits the upper 8 are kept, as Pillow does; grey ones are rounded.
  void decode(std::vector<png_bytep>& rows) {
    if (setjmp(back_)) refuse_png();
    png_set_expand(codec_);
    if ((png_get_color_type(codec_, info_) & PNG_COLOR_MASK_COLOR) != 0)
      png_set_strip_16(codec_);
    else
      png_set_scale_16(codec_);
    png_set_gray_to_rgb(codec_);
    png_set_strip_alpha(codec_);
    png_set_interlace_handling(codec_);
    png_read_update_info(codec_, info_);
    png_read_image(codec_, rows.data());
  }

 private:
  [[noreturn]] static void leave_png(png_structp codec, png_const_charp text) {
    auto* const self = static_cast<png_codec*>(png_get_error_ptr(codec));
    std::strncpy(self->text_, text, sizeof self->text_ - 1);
    std::longjmp(self->back_, 1);
  }

  static void take(png_structp codec, png_bytep to, std::size_t count) {
    auto* const self = static_cast<png_codec*>(png_get_io_ptr(codec));
    if (count > self->rest_.size()) png_error(codec, "its end is missing");
    std::memcpy(to, self->rest_.data(), count);
    self->rest_ = self->rest_.subspan(count);
  }

  [[noreturn]] void refuse_png() const { refuse(text_); }

  std::span<const std::byte> rest_;
  std::jmp_buf back_{};
  char text_[200]{};
  png_structp codec_ = nullptr;
  png_infop info_ = nullptr;
};

struct png_chunks {
  orientation_tags tags{};  ///< of eXIf and iTXt, wherever they are
  bool animated = false;    ///< acTL has several frames
};

std::uint32_t number_at(std::string_view text, std::size_t at) {
  return png_get_uint_32(reinterpret_cast<png_const_bytep>(&text[at]));
}

png_chunks chunks_of(std::string_view text) {
  constexpr std::size_t signature = 8, frame = 12;  // length, name, checksum
  constexpr auto xmp = "XML:com.adobe.xmp\0\0"sv;   // the second zero: not compressed
  png_chunks found;
  for (std::size_t at = signature; at + frame <= text.size();) {
    const std::size_t length = number_at(text, at);
    const std::string_view name = text.substr(at + 4, 4), content = text.substr(at + 8, length);
    if (name == "eXIf") found.tags.exif = content;
    if (name == "iTXt" && content.starts_with(xmp)) found.tags.xmp = content.substr(xmp.size());
    if (name == "acTL" && content.size() >= 4) found.animated = number_at(content, 0) > 1;
    at += length + frame;
  }
  return found;
}

image_header png_header(std::span<const std::byte> bytes) {
  png_codec codec;
  const image_size size = codec.start(bytes);
  require_end(as_text(bytes).rfind("\0\0\0\0IEND\xAE\x42\x60\x82"sv) != std::string_view::npos);
  const png_chunks chunks = chunks_of(as_text(bytes));
  return {size, orientation_of(chunks.tags), chunks.animated};
}

image decode_png(std::span<const std::byte> bytes) {
  png_codec codec;
  image result = image::blank(codec.start(bytes), 3);
  const auto stride = static_cast<std::size_t>(3 * result.size.width);
  std::vector<png_bytep> rows;
  for (std::int64_t y = 0; y < result.size.height; ++y)
    rows.push_back(&result.pixels[static_cast<std::size_t>(y) * stride]);
  codec.decode(rows);
  return result;
}

}  // namespace

image_format png_format() {
  return {[](std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1A\n"); }, png_header, decode_png};
}

}  // namespace hydra
