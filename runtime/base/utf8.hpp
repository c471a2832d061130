#pragma once
// Validation of UTF-8, its code points, and the mark that a file may begin with.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hydra {

/// Length of the longest prefix that is valid UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF):
/// bytes.size() if all is valid, else the position of the first byte of the first invalid sequence.
std::size_t valid_utf8(std::span<const std::byte> bytes) noexcept;

/// Length of the valid sequence at the start of `bytes`; 0 if there is none.
std::size_t first_utf8(std::span<const std::byte> bytes) noexcept;

/// "is not UTF-8: byte 17 of the line is 0xff", with `place` " of the line"; empty if all is valid.
std::string utf8_complaint(std::span<const std::byte> bytes, std::string_view place = {});
std::string utf8_complaint(std::string_view text, std::string_view place = {});

/// Whether a byte of a text that is UTF-8 is the first one of a code point.
constexpr bool begins_code_point(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

/// How many such a text has.
std::size_t code_points(std::string_view text) noexcept;

/// Without the byte order mark that programs of Windows write at its start.
std::string_view without_byte_order_mark(std::string_view text) noexcept;

}  // namespace hydra
