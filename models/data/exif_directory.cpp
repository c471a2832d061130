#include "models/data/exif_directory.hpp"

namespace hydra {
namespace {

/// Bytes after the end of the block are 0.
std::size_t number_in(std::string_view block, std::size_t at, std::size_t bytes) {
  const bool little_endian = block.starts_with("II");
  std::size_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::size_t from = at + (little_endian ? bytes - 1 - i : i);
    value = value << 8 | (from < block.size() ? static_cast<unsigned char>(block[from]) : 0u);
  }
  return value;
}

}  // namespace

/// Entries of 12 bytes: tag, type, count, value.
std::optional<std::size_t> directory_number(std::string_view block, std::size_t tag) {
  using namespace std::string_view_literals;
  constexpr std::size_t of_16_bits = 3, of_32_bits = 4;
  if (!block.starts_with("II*\0"sv) && !block.starts_with("MM\0*"sv)) return std::nullopt;
  const std::size_t directory = number_in(block, 4, 4), entries = number_in(block, directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + 12 * i, type = number_in(block, entry + 2, 2);
    if (number_in(block, entry, 2) == tag && (type == of_16_bits || type == of_32_bits))
      return number_in(block, entry + 8, type == of_16_bits ? 2 : 4);
  }
  return std::nullopt;
}

}  // namespace hydra
