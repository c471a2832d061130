#pragma once
// preprocessor_config.json: how transformers' image processors make samples of images.

#include "models/data_source.hpp"

#include <string>

namespace hydra {

/// Text of the file by which others do to an image what the data did to theirs: stretched to the samples' size, scaled by
/// data_source::pixel_scaling(). Empty if samples are no images of three channels that are made of pixels: transformers' processors
/// make three of every image.
std::string preprocessor_config(const data_source& data);

}  // namespace hydra
