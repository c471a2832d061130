#include "models/data/image_decoders.hpp"
#include "runtime/base/refuse.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

namespace hydra {
namespace {

const stbi_uc* stb_bytes(std::span<const std::byte> bytes) { return reinterpret_cast<const stbi_uc*>(bytes.data()); }

/// Little-endian.
std::int64_t number_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::int64_t value = 0;
  for (std::size_t i = at + size; i-- > at;)
    value = value << 8 | (i < bytes.size() ? std::to_integer<int>(bytes[i]) : 0);
  return value;
}

/// The library takes what is missing for zeros. Rows are padded to 4 bytes.
bool has_all_rows(std::span<const std::byte> bytes, image_size size) {
  const bool of_os2 = number_at(bytes, 14, 4) == 12;
  const std::int64_t begin = number_at(bytes, 10, 4), bits = number_at(bytes, of_os2 ? 24 : 28, 2);
  return begin + (size.width * bits + 31) / 32 * 4 * size.height <= std::ssize(bytes);
}

image_header bmp_header(std::span<const std::byte> bytes) {
  int width = 0, height = 0, channels = 0;
  if (!std::in_range<int>(bytes.size())) refuse("it has more than 2^31 bytes");
  if (!stbi_info_from_memory(stb_bytes(bytes), static_cast<int>(bytes.size()), &width, &height, &channels))
    refuse("it is damaged, or compressed (RLE)");
  const image_size size{std::abs(std::int64_t{height}), width};  // negative: the first row is on top
  require_end(has_all_rows(bytes, size));
  return {size};
}

image decode_bmp(std::span<const std::byte> bytes) {
  image result = image::blank(bmp_header(bytes).size, 3);
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> rgb{
      stbi_load_from_memory(stb_bytes(bytes), static_cast<int>(bytes.size()), &width, &height, &channels, 3),
      stbi_image_free};
  if (!rgb) refuse(stbi_failure_reason());
  std::copy_n(rgb.get(), result.pixels.size(), result.pixels.begin());
  return result;
}

}  // namespace

image_format bmp_format() {
  return {[](std::string_view bytes) { return bytes.starts_with("BM"); }, bmp_header, decode_bmp};
}

}  // namespace hydra
