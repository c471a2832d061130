#include "models/data/image_file.hpp"

#include "models/data/image_decoders.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace hydra {
namespace {

using bytes_of_file = std::span<const std::byte>;

std::string_view as_text(bytes_of_file bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

bool is_jpeg(bytes_of_file bytes) { return as_text(bytes).starts_with("\xFF\xD8\xFF"); }
bool is_png(bytes_of_file bytes) { return as_text(bytes).starts_with("\x89PNG\r\n\x1A\n"); }

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

void require_end(bool there) {
  if (!there) throw fault_error{fault_code::bad_input, "its end is missing"};
}

/// The last scan must be followed by the end marker; anything after that is ignored. A thumbnail has its own end
/// marker.
void require_jpeg_end(bytes_of_file bytes) {
  const std::string_view text = as_text(bytes), scan = "\xFF\xDA", end = "\xFF\xD9";
  const auto last = text.rfind(end);
  require_end(text.ends_with(end) || (last != text.npos && last > text.rfind(scan)));
}

void require_png_end(bytes_of_file bytes) {
  using namespace std::string_view_literals;
  require_end(as_text(bytes).rfind("\0\0\0\0IEND\xAE\x42\x60\x82"sv) != std::string_view::npos);
}

/// A small file may claim any size.
image_size checked(image_size size) {
  constexpr std::int64_t most = std::int64_t{1} << 28;
  if (size.height > most / std::max<std::int64_t>(size.width, 1))
    throw fault_error{
        fault_code::bad_input,
        fmt::format("it is {} x {} pixels; more than {} are not supported", size.height, size.width, most)};
  return size;
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

bool is_image_name(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

image_size image_size_of(const std::filesystem::path& file) {
  const auto jpeg = [](bytes_of_file bytes) {
    const image_size size = checked(jpeg_size(bytes));
    require_jpeg_end(bytes);
    return size;
  };
  const auto png = [](bytes_of_file bytes) {
    const image_size size = checked(png_size(bytes));
    require_png_end(bytes);
    return size;
  };
  return decoded(file, jpeg, png);
}

image decode_image(const std::filesystem::path& file, std::int64_t channels) {
  const auto jpeg = [=](bytes_of_file bytes) {
    checked(jpeg_size(bytes));
    return decode_jpeg(bytes, channels);
  };
  const auto png = [=](bytes_of_file bytes) {
    checked(png_size(bytes));
    const image rgb = decode_png(bytes);
    return channels == 1 ? luma(rgb) : rgb;
  };
  return decoded(file, jpeg, png);
}

}  // namespace hydra
