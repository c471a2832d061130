#pragma once
// How a TIFF file holds its pixels, and which ways are read.

#include "models/data/image.hpp"

namespace hydra {

class tiff_file;

enum class tiff_colours { grey, palette, rgb, cmyk, ycbcr };

struct tiff_layout {
  image_size size{};
  tiff_colours colours = tiff_colours::grey;
  bool inverted = false;       ///< greys: 0 is white
  bool premultiplied = false;  ///< greys and colours are multiplied by the alpha that follows them
  bool planar = false;         ///< a block holds one sample of each pixel, not all
  unsigned bits = 0;           ///< of a sample
  unsigned samples = 0;        ///< of a pixel, with those that are not used
  unsigned used = 0;           ///< the first samples of a pixel: its colours, and alpha if they are multiplied by it
};

/// Throws fault_error{bad_input} that names what is not read: samples and colours that Pillow does not convert to RGB,
/// or only by cutting off their values, L*a*b*, and rare compressions.
tiff_layout layout_of(const tiff_file& file);

}  // namespace hydra
