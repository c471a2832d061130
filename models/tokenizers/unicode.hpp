#pragma once
// Unicode functions for tokenizers: code points, their classes, normal forms. Texts are valid UTF-8.

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

/// Canonical composition and decomposition (UAX #15), and lower case without regard to language (SpecialCasing.txt).
std::string to_nfc(std::string_view text);
std::string to_nfd(std::string_view text);
void append_lower(std::string& text, char32_t code_point);

}  // namespace hydra
