#include "runtime/base/shown_text.hpp"

#include "runtime/base/utf8.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace hydra {

namespace {

/// Of valid UTF-8.
char32_t code_point_of(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return first;
  char32_t value = first & (0x7FU >> sequence.size());
  for (const char c : sequence.substr(1)) value = value << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  return value;
}

/// The format characters are those of Unicode's Bidi_Control, and its two separators.
bool is_obeyed(char32_t c) noexcept {
  const auto within = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  return c < 0x20 || within(0x7F, 0x9F) || c == 0x61C || within(0x200E, 0x200F) || within(0x2028, 0x202E) ||
         within(0x2066, 0x2069);
}

std::string escape_of(char32_t c) {
  for (const auto& [control, letter] : {std::pair{U'\n', 'n'}, {U'\t', 't'}, {U'\r', 'r'}})
    if (c == control) return {'\\', letter};
  return c < 0x80 ? fmt::format("\\x{:02x}", static_cast<unsigned>(c))
                  : fmt::format("\\u{:04x}", static_cast<unsigned>(c));
}

/// A character as it stands in the text, and as it is shown.
struct character {
  std::string_view stored;
  std::string shown;
};

character first_of(std::string_view text) {
  const std::size_t length = first_utf8(std::as_bytes(std::span{text}));
  if (length == 0) return {text.substr(0, 1), fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()))};
  const std::string_view stored = text.substr(0, length);
  const char32_t c = code_point_of(stored);
  return {stored, is_obeyed(c) ? escape_of(c) : std::string{stored}};
}

bool is_layout(std::string_view stored) { return stored == "\n" || stored == "\t"; }

template <class Stays>
std::string escaped_but(std::string_view text, const Stays& stays) {
  std::string out;
  while (!text.empty()) {
    const character next = first_of(text);
    stays(next.stored) ? out.append(next.stored) : out.append(next.shown);
    text.remove_prefix(next.stored.size());
  }
  return out;
}

}  // namespace

std::string shown(std::string_view value) {
  std::string text;
  while (!value.empty()) {
    const character next = first_of(value);
    if (text.size() + next.shown.size() > most_shown) return text + "…";
    text += next.shown;
    value.remove_prefix(next.stored.size());
  }
  return text;
}

std::string printable(std::string_view text) { return escaped_but(text, is_layout); }

std::string on_one_line(std::string_view text) {
  return escaped_but(text, [](std::string_view) { return false; });
}

bool is_printable(std::string_view name) { return on_one_line(name) == name; }

}  // namespace hydra
