#pragma once
// JPEG and PNG files.

#include "models/data/image.hpp"

#include <filesystem>

namespace hydra {

/// Whether the name ends like that of an image that can be read: .jpg, .jpeg, .png, in any case.
bool is_image_name(const std::filesystem::path& file);

/// From the header; pixels are not looked at, but a file without an end is refused. Throws as mapped_file does, and
/// fault_error{bad_input} with the file and what the decoder says, or its size if that is above 2^28 pixels; so does
/// decode_image(). What a file is, its first bytes say, not its name.
image_size image_size_of(const std::filesystem::path& file);

/// The whole image with 1 or 3 channels: grey becomes three equal channels, colours become luma (0.299 R + 0.587 G + 0.114 B),
/// opacity is dropped, 16 bits become 8. A JPEG file that ends early or is damaged is refused, not
/// filled up.
image decode_image(const std::filesystem::path& file, std::int64_t channels);

}  // namespace hydra
