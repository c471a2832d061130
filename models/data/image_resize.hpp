#pragma once
// Resizing of images.

#include "models/data/image.hpp"

namespace hydra {

/// Resizes an image of 1 or 3 channels. Bilinear, antialiased: each value is the mean of the source around it, weighted
/// by a triangle that is two target pixels wide when shrinking and two source pixels wide when enlarging. Does not keep
/// the aspect ratio. First along the rows, then along the columns, each in integers with 22 bits of fraction and
/// rounded to 8 bits: equal to Pillow's Image.resize(..., BILINEAR) up to a difference of 1 (Pillow may do the columns
/// first).
image resized(const image& from, image_size to);

}  // namespace hydra
