#pragma once
// Images with 8 bits per channel.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hydra {

struct image_size {
  std::int64_t height = 0, width = 0;
  friend bool operator==(const image_size&, const image_size&) = default;
};

/// Pixels row by row, channels interleaved.
struct image {
  image_size size{};
  std::int64_t channels = 0;  ///< 1: grey, 3: red, green, blue
  std::vector<std::uint8_t> pixels{};

  static image blank(image_size size, std::int64_t channels) {
    return {size, channels, std::vector<std::uint8_t>(static_cast<std::size_t>(size.height * size.width * channels))};
  }
};

}  // namespace hydra
