#pragma once
// Unicode functions for tokenizers: code points, their classes, graphemes, normal forms. Texts are valid UTF-8.

#include <cstddef>
#include <string>
#include <string_view>

namespace hydra {

/// Throws fault_error{bad_input} with the position of the first byte that is not UTF-8.
void require_utf8(std::string_view text);

struct code_point {
  char32_t value = 0;
  std::size_t length = 0;  ///< bytes of UTF-8
};

code_point first_code_point(std::string_view text) noexcept;  ///< `text` is not empty
code_point last_code_point(std::string_view text) noexcept;   ///< `text` is not empty
void append_utf8(std::string& text, char32_t code_point);

bool is_ascii(std::string_view text) noexcept;
bool is_white_space(char32_t c) noexcept;  ///< the property White_Space
bool is_word(char32_t c) noexcept;         ///< \w of UTS #18: letters, marks, decimal digits, connectors, joiners
bool is_punctuation(char32_t c) noexcept;  ///< a category P*, or ASCII that is neither letter, digit, space nor control
bool is_control(char32_t c) noexcept;      ///< a category Cc, Cf or Co
bool is_nonspacing_mark(char32_t c) noexcept;
bool is_mark(char32_t c) noexcept;  ///< a category M*

/// Normal forms of UAX #15: canonical or compatible, composed or decomposed.
enum class normal_form { nfc, nfd, nfkc, nfkd };
std::string in_form(normal_form form, std::string_view text);

/// Bytes of the first extended grapheme cluster (UAX #29). `text` is not empty.
std::size_t first_grapheme(std::string_view text) noexcept;

/// Appends the lower case without regard to language (SpecialCasing.txt).
void append_lower(std::string& text, char32_t code_point);

}  // namespace hydra
