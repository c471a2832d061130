#include "models/data/image_decoders.hpp"

#include "runtime/base/fault.hpp"

#include <csetjmp>
#include <cstdio>
#include <string>

#include <jpeglib.h>

#include <jerror.h>

namespace hydra {
namespace {

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
    jpeg_read_header(&codec_, TRUE);
    return {codec_.image_height, codec_.image_width};
  }

  /// Four channels are printing colours (CMYK).
  std::int64_t stored_channels() const noexcept { return codec_.num_components; }

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
  [[noreturn]] void refuse() const { throw fault_error{fault_code::bad_input, std::string{trap_.text}}; }

  jpeg_decompress_struct codec_{};
  error_trap trap_{};
};

}  // namespace

image_size jpeg_size(std::span<const std::byte> bytes) {
  jpeg_codec codec;
  const image_size size = codec.start(bytes);
  if (codec.stored_channels() == 4)
    throw fault_error{fault_code::bad_input, "it is stored in printing colours (CMYK); convert it to RGB"};
  return size;
}

image decode_jpeg(std::span<const std::byte> bytes, std::int64_t channels) {
  jpeg_codec codec;
  image result = image::blank(codec.start(bytes), channels);
  codec.decode(channels == 1 ? JCS_GRAYSCALE : JCS_RGB, result.pixels);
  return result;
}

}  // namespace hydra
