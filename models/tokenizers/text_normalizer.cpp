#include "models/tokenizers/text_normalizer.hpp"

#include <utility>

namespace hydra {

namespace {

constexpr bool within(char32_t c, char32_t first, char32_t last) noexcept { return c >= first && c <= last; }

/// The package's table, with its gap from U+2B820 to U+2B91F.
constexpr bool is_ideograph(char32_t c) noexcept {
  return within(c, 0x4E00, 0x9FFF) || within(c, 0x3400, 0x4DBF) || within(c, 0x20000, 0x2A6DF) ||
         within(c, 0x2A700, 0x2B73F) || within(c, 0x2B740, 0x2B81F) || within(c, 0x2B920, 0x2CEAF) ||
         within(c, 0xF900, 0xFAFF) || within(c, 0x2F800, 0x2FA1F);
}

bool is_dropped(char32_t c) noexcept {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  return c == 0 || c == 0xFFFD || is_control(c);
}

/// The concatenation of what `add(out, code point)` appends for each code point.
template <class Add>
std::string each_code_point(std::string_view text, const Add& add) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const code_point c = first_code_point(text);
    add(out, c.value);
    text.remove_prefix(c.length);
  }
  return out;
}

std::string cleaned(std::string_view text) {
  return each_code_point(text, [](std::string& out, char32_t c) {
    if (!is_dropped(c)) append_utf8(out, is_white_space(c) ? U' ' : c);
  });
}

std::string with_blanks_around_ideographs(std::string_view text) {
  return each_code_point(text, [](std::string& out, char32_t c) {
    const bool apart = is_ideograph(c);
    if (apart) out += ' ';
    append_utf8(out, c);
    if (apart) out += ' ';
  });
}

std::string without_accents(std::string_view text) {
  return each_code_point(in_form(normal_form::nfd, text), [](std::string& out, char32_t c) {
    if (!is_nonspacing_mark(c)) append_utf8(out, c);
  });
}

}  // namespace

std::optional<std::string> normalized_by(const normalizers& all, std::string_view text) {
  std::optional<std::string> made;
  for (const auto& each : all)
    if (auto next = each->apply(made ? std::string_view{*made} : text)) made = std::move(next);
  return made;
}

std::optional<std::string> form_normalizer::apply(std::string_view text) const {
  if (is_ascii(text)) return std::nullopt;
  return in_form(form_, text);
}

std::optional<std::string> lowercase_normalizer::apply(std::string_view text) const {
  return each_code_point(text, append_lower);
}

std::optional<std::string> accent_stripper::apply(std::string_view text) const {
  if (is_ascii(text)) return std::nullopt;
  return each_code_point(text, [](std::string& out, char32_t c) {
    if (!is_mark(c)) append_utf8(out, c);
  });
}

std::optional<std::string> bert_normalizer::apply(std::string_view text) const {
  std::string made{text};
  if (options_.clean_text) made = cleaned(made);
  const bool ascii = is_ascii(made);
  if (options_.handle_chinese_chars && !ascii) made = with_blanks_around_ideographs(made);
  if (options_.strip_accents && !ascii) made = without_accents(made);
  if (options_.lowercase) made = each_code_point(made, append_lower);
  return made;
}

}  // namespace hydra
