#include "models/data/image_file.hpp"

#include "models/data/image_decoders.hpp"
#include "models/data/image_orientation.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

namespace hydra {
namespace {

using bytes_of_file = std::span<const std::byte>;

const auto& image_formats() {
  static const std::array all{jpeg_format(), png_format(), webp_format(), gif_format(), bmp_format(), tiff_format()};
  return all;
}

const image_format& format_of(const std::filesystem::path& file, bytes_of_file bytes) {
  const auto& all = image_formats();
  const auto found = std::ranges::find_if(all, [&](const image_format& f) { return f.begins(as_text(bytes)); });
  if (found == all.end())
    refuse(
        fmt::format("{} is not a JPEG, PNG, WebP, GIF, BMP or TIFF file. Convert it to PNG, or move it out of the "
                    "folder of its class",
                    file.string()));
  return *found;
}

/// Calls `what(format, bytes)`; its faults name the file.
template <class What>
auto of_image(const std::filesystem::path& file, const What& what) {
  const mapped_file mapped{file};
  const image_format& format = format_of(file, mapped.bytes());
  try {
    return what(format, mapped.bytes());
  } catch (const fault_error& e) {
    refuse(fmt::format("{} cannot be read as an image: {}", file.string(), e.what_happened().text));
  }
}

/// A small file may claim any size.
image_header checked(image_header header) {
  constexpr std::int64_t most = std::int64_t{1} << 28;
  const image_size size = header.size;
  if (size.height < 1 || size.width < 1 || size.height > most / size.width)
    refuse(fmt::format("it is {} x {} pixels; 1 to {} are supported", size.height, size.width, most));
  return header;
}

/// Luma with the weights of ITU-R 601, in 16 bits and rounded.
image luma(const image& rgb) {
  image grey = image::blank(rgb.size, 1);
  for (std::size_t i = 0; i < grey.pixels.size(); ++i) {
    const std::uint8_t* const p = &rgb.pixels[3 * i];
    grey.pixels[i] = static_cast<std::uint8_t>((19595u * p[0] + 38470u * p[1] + 7471u * p[2] + 32768u) >> 16);
  }
  return grey;
}

}  // namespace

void require_end(bool there) {
  if (!there) refuse("its end is missing");
}

bool is_image_name(const std::filesystem::path& file) {
  static constexpr std::array<std::string_view, 22> endings{
      ".jpg",  ".jpeg", ".jpe",  ".jfif", ".png", ".apng", ".webp", ".gif", ".bmp", ".dib", ".tif",
      ".tiff", ".heic", ".heif", ".avif", ".jp2", ".jxl",  ".ppm",  ".pgm", ".pbm", ".pnm", ".tga"};
  std::string ending = file.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(endings, ending) != endings.end();
}

image_outline outline_of(const std::filesystem::path& file) {
  return of_image(file, [](const image_format& format, bytes_of_file bytes) {
    const image_header header = checked(format.header(bytes));
    return image_outline{upright(header.size, header.orientation), header.several};
  });
}

image decode_image(const std::filesystem::path& file, std::int64_t channels) {
  return of_image(file, [=](const image_format& format, bytes_of_file bytes) {
    const image_header header = checked(format.header(bytes));
    image stored = format.decode(bytes);
    if (channels == 1) stored = luma(stored);
    return upright(std::move(stored), header.orientation);
  });
}

}  // namespace hydra
