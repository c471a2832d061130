#pragma once
// Files of images: JPEG, PNG, WebP, GIF, BMP, TIFF.

#include "models/data/image.hpp"

#include <filesystem>

namespace hydra {

/// Whether the extension is that of an image, in any case: those that can be read, and those of other formats that
/// users have (.heic, .jxl, ...), which outline_of() refuses.
bool is_image_name(const std::filesystem::path& file);

struct image_outline {
  image_size size{};     ///< upright
  bool several = false;  ///< images are in the file (image_decoders.hpp); the first one counts
};

/// Reads the header, not the pixels, but refuses a file without an end. Throws as mapped_file does, and
/// fault_error{bad_input} with the file and the decoder's message, or its size if that is above 2^28 pixels; so does
/// decode_image(). The format is determined by the first bytes of the file, not by its name.
image_outline outline_of(const std::filesystem::path& file);

/// The whole image with 1 or 3 channels, upright (image_orientation.hpp). Pixels are those of transformers'
/// load_image(), which is Pillow's convert("RGB"): grey becomes three equal channels, alpha and gamma are not looked
/// at; but grey of 16 bits, which Pillow makes white, is rounded to 8; and YCbCr in TIFF without compression may differ
/// by 1. For 1 channel, colours become luma (0.299 R + 0.587 G + 0.114 B). A file that ends early or is damaged is
/// refused, not filled up.
image decode_image(const std::filesystem::path& file, std::int64_t channels);

}  // namespace hydra
