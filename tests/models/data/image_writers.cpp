#include "tests/models/data/image_writers.hpp"

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <jpeglib.h>
#include <png.h>

namespace hydra::test {
namespace {

std::uint32_t png_format(std::int64_t channels) {
  if (channels == 1) return PNG_FORMAT_GRAY;
  return channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
}

J_COLOR_SPACE jpeg_space(std::int64_t channels) {
  if (channels == 1) return JCS_GRAYSCALE;
  return channels == 3 ? JCS_RGB : JCS_CMYK;
}

void write_16_bit_png(const std::filesystem::path& file, const image& what) {
  std::FILE* const out = std::fopen(file.c_str(), "wb");
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_init_io(png, out);
  const int type = what.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB;
  png_set_IHDR(png, info, static_cast<png_uint_32>(what.size.width), static_cast<png_uint_32>(what.size.height), 16,
               type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  const auto stride = static_cast<std::size_t>(what.size.width * what.channels);
  for (std::size_t y = 0; y < static_cast<std::size_t>(what.size.height); ++y) {
    std::vector<std::uint8_t> row;
    for (std::size_t i = 0; i < stride; ++i) {
      const std::uint8_t upper = what.pixels[y * stride + i];
      row.insert(row.end(), {upper, what.channels == 1 ? upper : std::uint8_t{255}});
    }
    png_write_row(png, row.data());
  }
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  std::fclose(out);
}

}  // namespace

void write_png(const std::filesystem::path& file, const image& what, int depth) {
  if (depth == 16) return write_16_bit_png(file, what);
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(what.size.width);
  png.height = static_cast<png_uint_32>(what.size.height);
  png.format = png_format(what.channels);
  if (!png_image_write_to_file(&png, file.c_str(), 0, what.pixels.data(), 0, nullptr))
    throw std::runtime_error{std::string{"no PNG file: "} + png.message};
}

void write_jpeg(const std::filesystem::path& file, const image& what, int quality) {
  jpeg_compress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  std::FILE* const out = std::fopen(file.c_str(), "wb");
  jpeg_stdio_dest(&codec, out);
  codec.image_width = static_cast<JDIMENSION>(what.size.width);
  codec.image_height = static_cast<JDIMENSION>(what.size.height);
  codec.input_components = static_cast<int>(what.channels);
  codec.in_color_space = jpeg_space(what.channels);
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  jpeg_start_compress(&codec, TRUE);
  const auto stride = static_cast<std::size_t>(what.size.width * what.channels);
  while (codec.next_scanline < codec.image_height) {
    auto* row = const_cast<std::uint8_t*>(what.pixels.data()) + codec.next_scanline * stride;
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  std::fclose(out);
}

std::string from_hex(std::string_view digits) {
  std::string all;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    all += static_cast<char>(std::stoi(std::string{digits.substr(i, 2)}, nullptr, 16));
  return all;
}

image ramp(image_size size, std::int64_t channels) {
  image result = image::blank(size, channels);
  std::uint8_t* next = result.pixels.data();
  for (std::int64_t y = 0; y < size.height; ++y)
    for (std::int64_t x = 0; x < size.width; ++x)
      for (std::int64_t c = 0; c < channels; ++c) *next++ = static_cast<std::uint8_t>(10 + 3 * y + 2 * x + 20 * c);
  return result;
}

}  // namespace hydra::test
