#pragma once
// Images to PNG files.

#include "models/data/image.hpp"

#include <filesystem>

namespace hydra {

/// Writes an image of 1 or 3 channels; an existing file is replaced. Throws fault_error{io} with the file.
void write_png(const std::filesystem::path& file, const image& picture);

}  // namespace hydra
