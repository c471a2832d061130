#include "models/tokenizers/byte_alphabet.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace hydra {

namespace {

constexpr unsigned shown_bytes_end = 0x144;  // U+0100 + 68 bytes that are not printable

constexpr bool printable(unsigned byte) noexcept {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct alphabet {
  std::array<std::string, 256> characters;
  std::array<std::int16_t, shown_bytes_end> bytes;  ///< by code point; -1: not in the alphabet
};

std::string utf8(unsigned code_point) {
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  return {static_cast<char>(0xC0 | (code_point >> 6)), static_cast<char>(0x80 | (code_point & 0x3F))};
}

const alphabet& table() {
  static const alphabet all = [] {
    alphabet a;
    a.bytes.fill(-1);
    unsigned next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const unsigned code_point = printable(byte) ? byte : next++;
      a.characters[byte] = utf8(code_point);
      a.bytes[code_point] = static_cast<std::int16_t>(byte);
    }
    return a;
  }();
  return all;
}

}  // namespace

std::string_view alphabet_of(unsigned char byte) noexcept { return table().characters[byte]; }

std::string to_alphabet(std::string_view bytes) {
  std::string token;
  for (const char c : bytes) token += alphabet_of(static_cast<unsigned char>(c));
  return token;
}

std::optional<std::string> from_alphabet(std::string_view token) {
  std::string bytes;
  for (std::size_t i = 0; i < token.size(); ++i) {
    unsigned code_point = static_cast<unsigned char>(token[i]);
    if (code_point >= 0xE0) return std::nullopt;  // more than two bytes of UTF-8
    if (code_point >= 0x80) {
      if (++i == token.size()) return std::nullopt;
      code_point = (code_point & 0x1F) << 6 | (static_cast<unsigned char>(token[i]) & 0x3F);
    }
    if (code_point >= shown_bytes_end || table().bytes[code_point] < 0) return std::nullopt;
    bytes += static_cast<char>(table().bytes[code_point]);
  }
  return bytes;
}

}  // namespace hydra
