#pragma once
// preprocessor_config.json: how transformers' image processors make samples of images.

#include "models/data_source.hpp"

#include <string>

namespace hydra {

/// Text of the file that makes other programs prepare an image as the data did: resized to the samples' size, scaled by
/// data_source::pixel_scaling(). Empty if samples are not images of three channels made from pixels: transformers'
/// processors produce three channels for every image.
std::string preprocessor_config(const data_source& data);

}  // namespace hydra
