#pragma once
// JPEG and PNG files.

#include "models/data/image.hpp"

#include <filesystem>

namespace hydra {

/// Whether the extension is one that can be read: .jpg, .jpeg, .png, in any case.
bool is_image_name(const std::filesystem::path& file);

/// Reads the header, not the pixels, but refuses a file without an end marker. Throws as mapped_file does, and
/// fault_error{bad_input} with the file and the decoder's message, or its size if that is above 2^28 pixels; so does
/// decode_image(). The format is determined by the first bytes of the file, not by its name.
image_size image_size_of(const std::filesystem::path& file);

/// The whole image with 1 or 3 channels: grey becomes three equal channels, colours become luma (0.299 R + 0.587 G +
/// 0.114 B), alpha is dropped, 16 bits become 8. A JPEG file that ends early or is damaged is refused, not filled up.
image decode_image(const std::filesystem::path& file, std::int64_t channels);

}  // namespace hydra
