#pragma once
// The formats behind image_file: bytes of a file -> pixels.

#include "models/data/image.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace hydra {

/// What a file says before its pixels.
struct image_header {
  image_size size{};    ///< of the stored pixels
  int orientation = 1;  ///< as orientation_of()
  bool several = false;  ///< images: pages, frames of an animation, or those of a photograph
};

/// Its functions throw fault_error{bad_input} that says what is wrong with the bytes.
struct image_format {
  bool (*begins)(std::string_view bytes);
  /// Refuses bytes whose end is missing.
  image_header (*header)(std::span<const std::byte> bytes);
  image (*decode)(std::span<const std::byte> bytes);  ///< as stored, with 3 channels
};

image_format jpeg_format();  ///< libjpeg: exact integer transform, smooth upsampling of colours (its defaults)
image_format png_format();   ///< libpng
image_format webp_format();  ///< libwebp; the first image of an animation
image_format gif_format();   ///< giflib; the first image of an animation
image_format bmp_format();   ///< stb_image
image_format tiff_format();  ///< libtiff; the first page

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Throws fault_error{bad_input} unless it is.
void require_end(bool there);

}  // namespace hydra
