#pragma once
// Image files for tests.

#include "models/data/image.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace hydra::test {

/// 1 channel: grey, 3: colours, 4: with alpha. `depth` is 8 or 16; 16 bits of grey repeat the 8, of colours the lower
/// are 1.
void write_png(const std::filesystem::path& file, const image& what, int depth = 8);

/// 1 or 3 channels; 4: CMYK.
void write_jpeg(const std::filesystem::path& file, const image& what, int quality = 100);

/// Bytes of pairs of hexadecimal digits.
std::string from_hex(std::string_view digits);

/// An image without fine detail: value 10 + 3 y + 2 x + 20 c.
image ramp(image_size size, std::int64_t channels);

}  // namespace hydra::test
