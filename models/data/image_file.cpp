#include "models/data/image_file.hpp"

#include "models/data/image_decoders.hpp"
#include "models/data/mapped_file.hpp"
#include "runtime/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace hydra {
namespace {

using bytes_of_file = std::span<const std::byte>;

bool starts_with(bytes_of_file bytes, std::string_view magic) {
  return std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()}.starts_with(magic);
}

bool is_jpeg(bytes_of_file bytes) { return starts_with(bytes, "\xFF\xD8\xFF"); }
bool is_png(bytes_of_file bytes) { return starts_with(bytes, "\x89PNG\r\n\x1A\n"); }

/// Calls `jpeg` or `png`; their faults name the file.
template <class Jpeg, class Png>
auto decoded(const std::filesystem::path& file, const Jpeg& jpeg, const Png& png) {
  const mapped_file mapped{file};
  const bytes_of_file bytes = mapped.bytes();
  if (!is_jpeg(bytes) && !is_png(bytes))
    throw fault_error{fault_code::bad_input, fmt::format("{} is neither a JPEG nor a PNG file", file.string())};
  try {
    return is_jpeg(bytes) ? jpeg(bytes) : png(bytes);
  } catch (const fault_error& e) {
    throw fault_error{fault_code::bad_input,
                      fmt::format("{} cannot be read as an image: {}", file.string(), e.what_happened().text)};
  }
}

/// As ITU-R 601 weighs colours, in 16 bits and rounded.
image luma(const image& rgb) {
  image grey = image::blank(rgb.size, 1);
  for (std::size_t i = 0; i < grey.pixels.size(); ++i) {
    const std::uint8_t* const p = &rgb.pixels[3 * i];
    grey.pixels[i] = static_cast<std::uint8_t>((19595u * p[0] + 38470u * p[1] + 7471u * p[2] + 32768u) >> 16);
  }
  return grey;
}

}  // namespace

bool is_image_name(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

image_size image_size_of(const std::filesystem::path& file) { return decoded(file, jpeg_size, png_size); }

image decode_image(const std::filesystem::path& file, std::int64_t channels) {
  const auto jpeg = [=](bytes_of_file bytes) { return decode_jpeg(bytes, channels); };
  const auto png = [=](bytes_of_file bytes) {
    const image rgb = decode_png(bytes);
    return channels == 1 ? luma(rgb) : rgb;
  };
  return decoded(file, jpeg, png);
}

}  // namespace hydra
