#include "models/tokenizers/unicode.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>

namespace hydra {

namespace {

utf8proc_category_t category(char32_t c) noexcept { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

constexpr bool in_range(char32_t c, char32_t first, char32_t last) noexcept { return c >= first && c <= last; }

std::string mapped(std::string_view text, unsigned options) {
  utf8proc_uint8_t* out = nullptr;
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &out, static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner{out, &std::free};
  if (length < 0) throw fault_error{fault_code::internal, fmt::format("normalisation: {}", utf8proc_errmsg(length))};
  return {reinterpret_cast<const char*>(out), static_cast<std::size_t>(length)};
}

/// Line by line: characters neither compose nor reorder across a line's end, and most lines of most texts are ASCII.
template <class Form>
std::string by_lines(std::string_view text, const Form& form) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    is_ascii(line) ? out.append(line) : out.append(form(line));
    text.remove_prefix(line.size());
  }
  return out;
}

/// Circled letters are alphabetic symbols (Other_Alphabetic).
constexpr bool is_circled_letter(char32_t c) noexcept {
  return in_range(c, 0x24B6, 0x24E9) || in_range(c, 0x1F130, 0x1F149) || in_range(c, 0x1F150, 0x1F169) ||
         in_range(c, 0x1F170, 0x1F189);
}

}  // namespace

void require_utf8(std::string_view text) {
  if (const std::string why = utf8_complaint(text); !why.empty()) refuse("the text " + why);
}

code_point first_code_point(std::string_view text) noexcept {
  utf8proc_int32_t value = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &value);
  return {static_cast<char32_t>(value), static_cast<std::size_t>(length)};
}

code_point last_code_point(std::string_view text) noexcept {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && !begins_code_point(text[begin])) --begin;
  return first_code_point(text.substr(begin));
}

void append_utf8(std::string& text, char32_t c) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

bool is_ascii(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_white_space(char32_t c) noexcept {
  if (c < 0x80) return in_range(c, 0x09, 0x0D) || c == ' ';
  if (c == 0x85) return true;
  const auto is = category(c);
  return is == UTF8PROC_CATEGORY_ZS || is == UTF8PROC_CATEGORY_ZL || is == UTF8PROC_CATEGORY_ZP;
}

bool is_word(char32_t c) noexcept {
  const auto is = category(c);
  const bool letter_or_mark =
      is >= UTF8PROC_CATEGORY_LU && is <= UTF8PROC_CATEGORY_NL;  // Lu Ll Lt Lm Lo Mn Mc Me Nd Nl
  return letter_or_mark || is == UTF8PROC_CATEGORY_PC || c == 0x200C || c == 0x200D || is_circled_letter(c);
}

bool is_punctuation(char32_t c) noexcept {
  if (c < 0x80) return in_range(c, '!', '/') || in_range(c, ':', '@') || in_range(c, '[', '`') || in_range(c, '{', '~');
  const auto is = category(c);
  return is >= UTF8PROC_CATEGORY_PC && is <= UTF8PROC_CATEGORY_PO;
}

bool is_control(char32_t c) noexcept {
  const auto is = category(c);
  return is == UTF8PROC_CATEGORY_CC || is == UTF8PROC_CATEGORY_CF || is == UTF8PROC_CATEGORY_CO;
}

bool is_nonspacing_mark(char32_t c) noexcept { return category(c) == UTF8PROC_CATEGORY_MN; }

bool is_mark(char32_t c) noexcept {
  const auto is = category(c);
  return is >= UTF8PROC_CATEGORY_MN && is <= UTF8PROC_CATEGORY_ME;  // Mn Mc Me
}

std::string in_form(normal_form form, std::string_view text) {
  const bool composed = form == normal_form::nfc || form == normal_form::nfkc;
  const bool compatible = form == normal_form::nfkc || form == normal_form::nfkd;
  unsigned options = UTF8PROC_STABLE;
  options |= static_cast<unsigned>(composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE);
  if (compatible) options |= static_cast<unsigned>(UTF8PROC_COMPAT);
  return by_lines(text, [&](std::string_view line) { return mapped(line, options); });
}

std::size_t first_grapheme(std::string_view text) noexcept {
  code_point before = first_code_point(text);
  std::size_t length = before.length;
  utf8proc_int32_t state = 0;
  while (length < text.size()) {
    const code_point next = first_code_point(text.substr(length));
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before.value),
                                         static_cast<utf8proc_int32_t>(next.value), &state))
      break;
    length += next.length;
    before = next;
  }
  return length;
}

void append_lower(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(in_range(c, 'A', 'Z') ? c + 32 : c);
  } else if (c == 0x130) {  // I with a dot above: the one character whose lower case is two
    text += "i\u0307";
  } else {
    append_utf8(text, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  }
}

}  // namespace hydra
