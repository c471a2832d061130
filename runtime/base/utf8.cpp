#include "runtime/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra {
namespace {

struct lead {
  std::size_t length = 0;  ///< of the sequence; 0 if no sequence starts with this byte
  unsigned low = 0x80;     ///< bounds of the second byte: exclude overlong forms, surrogates, values above U+10FFFF
  unsigned high = 0xBF;
};

constexpr lead classify(unsigned byte) noexcept {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

}  // namespace

std::size_t first_utf8(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return 0;
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(bytes[i]); };
  const lead first = classify(at(0));
  if (first.length > bytes.size()) return 0;
  if (first.length > 1 && (at(1) < first.low || at(1) > first.high)) return 0;
  for (std::size_t i = 2; i < first.length; ++i)
    if (at(i) < 0x80 || at(i) > 0xBF) return 0;
  return first.length;
}

std::size_t valid_utf8(std::span<const std::byte> bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::size_t length = first_utf8(bytes.subspan(done));
    if (length == 0) return done;
    done += length;
  }
  return done;
}

std::string utf8_complaint(std::span<const std::byte> bytes, std::string_view place) {
  const std::size_t valid = valid_utf8(bytes);
  if (valid == bytes.size()) return {};
  return fmt::format("is not UTF-8: byte {}{} is 0x{:02x}", valid, place, std::to_integer<unsigned>(bytes[valid]));
}

std::string utf8_complaint(std::string_view text, std::string_view place) {
  return utf8_complaint(std::as_bytes(std::span{text}), place);
}

std::size_t code_points(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_code_point));
}

std::string_view without_byte_order_mark(std::string_view text) noexcept {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

}  // namespace hydra
