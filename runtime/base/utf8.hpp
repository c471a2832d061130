#pragma once
// Validation of UTF-8.

#include <cstddef>
#include <span>

namespace hydra {

/// Length of the longest prefix that is valid UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF):
/// bytes.size() if all is valid, else the position of the first byte of the first invalid sequence.
std::size_t valid_utf8(std::span<const std::byte> bytes) noexcept;

}  // namespace hydra
