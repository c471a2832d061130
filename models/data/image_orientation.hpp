#pragma once
// Which way up an image is: what a camera that was held upright or upside down writes beside the pixels.

#include "models/data/image.hpp"

#include <string_view>

namespace hydra {

/// Where a file says it. `exif`: a block of EXIF; `xmp`: XML, which counts where EXIF does not say it. Empty: none.
struct orientation_tags {
  std::string_view exif{}, xmp{};
};

/// EXIF's orientation: 1 is upright, 2 to 8 are mirrored or turned. Read as by Pillow's ImageOps.exif_transpose(), with
/// which transformers loads images; what is damaged or out of range means upright.
int orientation_of(const orientation_tags& tags);

/// Of an image that is stored with this orientation.
image_size upright(image_size stored, int orientation);
image upright(image stored, int orientation);

}  // namespace hydra
