#pragma once
// Images of another size.

#include "models/data/image.hpp"

namespace hydra {

/// An image of 1 or 3 channels. Bilinear, antialiased: each value is the mean of the source around it, weighted by a triangle
/// that is as wide as two target pixels when shrinking and two source pixels when enlarging. Stretches to the size, whatever the
/// shape was. First along the rows, then along the columns, each in integers with 22 bits of fraction and rounded to 8 bits: what
/// Pillow's Image.resize(..., BILINEAR) does, whose values differ by 1 at most (it may take the columns first).
image resized(const image& from, image_size to);

}  // namespace hydra
