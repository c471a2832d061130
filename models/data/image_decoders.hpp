#pragma once
// The decoders behind image_file: bytes of a file -> pixels. They throw fault_error{bad_input} that says what is wrong
// with the bytes.

#include "models/data/image.hpp"

#include <cstddef>
#include <span>

namespace hydra {

/// libjpeg: exact integer transform, smooth upsampling of colours (its defaults).
image_size jpeg_size(std::span<const std::byte> bytes);
image decode_jpeg(std::span<const std::byte> bytes, std::int64_t channels);

/// libpng.
image_size png_size(std::span<const std::byte> bytes);
image decode_png(std::span<const std::byte> bytes);  ///< 3 channels

}  // namespace hydra
