#pragma once
// Images of another size.

#include "models/data/image.hpp"

namespace hydra {

/// Bilinear, antialiased: each value is the mean of the source around it, weighted by a triangle that is as wide as two target
/// pixels when shrinking and two source pixels when enlarging. Stretches to the size, whatever the shape was. First the
/// rows, then the columns, each in integers with 22 bits of fraction and rounded to 8 bits: the values of Pillow's
/// Image.resize(..., BILINEAR).
image resized(const image& from, image_size to);

}  // namespace hydra
