#pragma once
// GPT-2's alphabet, in which byte-level vocabularies are written: each byte as a printable character.

#include <optional>
#include <string>
#include <string_view>

namespace hydra {

/// The byte's character, as UTF-8: itself if it is printable in Latin-1, else one from U+0100 on.
/// Source: bytes_to_unicode() of openai/gpt-2, src/encoder.py.
std::string_view alphabet_of(unsigned char byte) noexcept;

/// Bytes as they are written in a vocabulary: " the" is "Ġthe".
std::string to_alphabet(std::string_view bytes);

/// The bytes of a vocabulary's token; empty if a character of it is not in the alphabet.
std::optional<std::string> from_alphabet(std::string_view token);

}  // namespace hydra
