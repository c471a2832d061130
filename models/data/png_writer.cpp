#include "models/data/png_writer.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <string>

#include <png.h>

namespace hydra {

void write_png(const std::filesystem::path& file, const image& picture) {
  png_image codec{};
  codec.version = PNG_IMAGE_VERSION;
  codec.width = static_cast<png_uint_32>(picture.size.width);
  codec.height = static_cast<png_uint_32>(picture.size.height);
  codec.format = picture.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  if (!png_image_write_to_file(&codec, file.c_str(), 0, picture.pixels.data(), 0, nullptr))
    throw fault_error{fault_code::io,
                      fmt::format("{} cannot be written: {}", file.string(), std::string{codec.message})};
}

}  // namespace hydra
