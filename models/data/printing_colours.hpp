#pragma once
// Printing colours: cyan, magenta, yellow, black.

#include <cstdint>

namespace hydra {

/// What of red, green or blue is left by its ink (cyan, magenta, yellow) and black, 0 (none) to 255: as Pillow converts
/// CMYK.
inline std::uint8_t printed(unsigned ink, unsigned black) {
  const unsigned white = 255 - black, product = ink * white + 128;
  return static_cast<std::uint8_t>(white - ((product + (product >> 8)) >> 8));
}

}  // namespace hydra
