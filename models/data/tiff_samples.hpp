#pragma once
// Decoded samples of a TIFF file -> pixels.

#include "models/data/tiff_layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace hydra {

/// Red, green and blue of each index, of 8 bits.
using tiff_palette = std::array<std::array<std::uint8_t, 3>, 256>;

/// A sample of a decoded row in 8 bits. Of fewer bits, greys are scaled to 0 to 255; indices of palettes are left as
/// they are. Of 16 bits the upper 8 of colours are taken, as by Pillow; greys, which Pillow makes white, are rounded.
std::uint8_t sample_at(const std::uint8_t* row, std::size_t index, const tiff_layout& layout);

/// As Pillow converts them to RGB. `samples`: with layout.used channels, as sample_at().
image rgb_of_samples(const image& samples, const tiff_layout& layout, const tiff_palette& palette);

}  // namespace hydra
