#include "models/data/exif_directory.hpp"
#include "models/data/image_decoders.hpp"
#include "models/data/image_orientation.hpp"
#include "models/data/printing_colours.hpp"
#include "runtime/base/refuse.hpp"

#include <csetjmp>
#include <cstdio>
#include <string>
#include <string_view>

#include <jpeglib.h>

#include <jerror.h>

namespace hydra {
namespace {

using namespace std::string_view_literals;

/// The library's errors jump back to the call of the decoder: exceptions must not pass through C code.
struct error_trap {
  jpeg_error_mgr manager;  // first member: the library knows only its address
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX];
};

[[noreturn]] void leave(j_common_ptr codec) {
  auto* const trap = reinterpret_cast<error_trap*>(codec->err);
  trap->manager.format_message(codec, trap->text);
  std::longjmp(trap->back, 1);
}

/// A warning is an error here: the library would fill missing or damaged pixels with grey.
void judge_warning(j_common_ptr codec, int level) {
  const int code = codec->err->msg_code;
  const bool lost =
      code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC;
  if (level < 0 && lost) leave(codec);
}

/// A decoder that has read the header, after start(). No object with a destructor is created between its jumps.
class jpeg_codec {
 public:
  jpeg_codec() {
    codec_.err = jpeg_std_error(&trap_.manager);
    trap_.manager.error_exit = leave;
    trap_.manager.emit_message = judge_warning;
    jpeg_create_decompress(&codec_);
  }
  ~jpeg_codec() { jpeg_destroy_decompress(&codec_); }
  jpeg_codec(const jpeg_codec&) = delete;
  jpeg_codec& operator=(const jpeg_codec&) = delete;

  image_size start(std::span<const std::byte> bytes) {
    if (setjmp(trap_.back)) refuse();
    jpeg_mem_src(&codec_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    for (const int marker : {tags_marker, images_marker}) jpeg_save_markers(&codec_, marker, 0xFFFF);
    jpeg_read_header(&codec_, TRUE);
    return {codec_.image_height, codec_.image_width};
  }

  /// Printing colours.
  bool is_cmyk() const noexcept { return codec_.num_components == 4; }

  orientation_tags tags() const noexcept { return {tagged("Exif\0\0"sv), tagged("http://ns.adobe.com/xap/1.0/\0"sv)}; }

  /// More images follow the first one, as in photographs of many phones (CIPA DC-007, Multi-Picture Format).
  bool goes_on() const noexcept {
    constexpr std::size_t number_of_images = 0xB001;
    return directory_number(tagged("MPF\0"sv), number_of_images).value_or(1) > 1;
  }

  /// Decodes all rows into `pixels`, in this colour space.
  void decode(J_COLOR_SPACE space, std::span<std::uint8_t> pixels) {
    if (setjmp(trap_.back)) refuse();
    codec_.out_color_space = space;
    jpeg_start_decompress(&codec_);
    const std::size_t stride = pixels.size() / codec_.output_height;
    while (codec_.output_scanline < codec_.output_height) {
      JSAMPROW row = pixels.data() + codec_.output_scanline * stride;
      jpeg_read_scanlines(&codec_, &row, 1);
    }
    jpeg_finish_decompress(&codec_);
  }

 private:
  static constexpr int tags_marker = JPEG_APP0 + 1, images_marker = JPEG_APP0 + 2;

  /// The rest of the marker that begins with this name.
  std::string_view tagged(std::string_view name) const noexcept {
    for (auto m = codec_.marker_list; m != nullptr; m = m->next) {
      const std::string_view text{reinterpret_cast<const char*>(m->data), m->data_length};
      if (text.starts_with(name)) return text.substr(name.size());
    }
    return {};
  }

  [[noreturn]] void refuse() const { hydra::refuse(trap_.text); }

  jpeg_decompress_struct codec_{};
  error_trap trap_{};
};

/// The last scan must be followed by the end marker; anything after that is ignored. A thumbnail has its own end
/// marker.
void require_jpeg_end(std::string_view text) {
  constexpr std::string_view scan = "\xFF\xDA", end = "\xFF\xD9";
  const auto last = text.rfind(end);
  require_end(text.ends_with(end) || (last != text.npos && last > text.rfind(scan)));
}

/// The file has printing colours inverted, as Adobe's programs write them.
image rgb_of(const image& inverted) {
  image result = image::blank(inverted.size, 3);
  for (std::size_t i = 0; i < result.pixels.size(); ++i) {
    const std::uint8_t* const p = &inverted.pixels[i / 3 * 4];
    result.pixels[i] = printed(255u - p[i % 3], 255u - p[3]);
  }
  return result;
}

image_header jpeg_header(std::span<const std::byte> bytes) {
  jpeg_codec codec;
  const image_size size = codec.start(bytes);
  require_jpeg_end(as_text(bytes));
  return {size, orientation_of(codec.tags()), codec.goes_on()};
}

image decode_jpeg(std::span<const std::byte> bytes) {
  jpeg_codec codec;
  const image_size size = codec.start(bytes);
  image result = image::blank(size, codec.is_cmyk() ? 4 : 3);
  codec.decode(codec.is_cmyk() ? JCS_CMYK : JCS_RGB, result.pixels);
  return codec.is_cmyk() ? rgb_of(result) : result;
}

}  // namespace

image_format jpeg_format() {
  return {[](std::string_view bytes) { return bytes.starts_with("\xFF\xD8\xFF"); }, jpeg_header, decode_jpeg};
}

}  // namespace hydra
