#include "models/jinja/texts.hpp"

#include "models/jinja/complaint.hpp"
#include "models/tokenizers/unicode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace hydra::jinja {

namespace {

char32_t code_of(std::string_view letter) { return first_code_point(letter).value; }

bool is_ascii_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
char upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }
char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

void require_ascii(std::string_view text, std::string_view what) {
  if (!is_ascii(text)) complain(fmt::format("{} of a text that has letters beyond ASCII is not supported", what));
}

std::string_view last_letter(std::string_view text) { return text.substr(text.size() - last_code_point(text).length); }

template <class Cut>
std::string_view strip_where(std::string_view text, cut_ends ends, const Cut& is_cut) {
  while (ends.left && !text.empty() && is_cut(first_letter(text))) text.remove_prefix(first_letter(text).size());
  while (ends.right && !text.empty() && is_cut(last_letter(text))) text.remove_suffix(last_letter(text).size());
  return text;
}

}  // namespace

std::string_view first_letter(std::string_view text) { return text.substr(0, first_code_point(text).length); }

std::vector<std::string_view> letters_of(std::string_view text) {
  std::vector<std::string_view> all;
  for (; !text.empty(); text.remove_prefix(all.back().size())) all.push_back(first_letter(text));
  return all;
}

bool is_space(std::string_view letter) {
  const char32_t c = code_of(letter);
  return is_white_space(c) || (c >= 0x1c && c <= 0x1f);
}

bool is_plain(std::string_view letter) {
  const char32_t c = code_of(letter);
  return c == ' ' || (!is_control(c) && !is_space(letter));
}

std::string escaped_letter(std::string_view letter) {
  const auto c = static_cast<std::uint32_t>(code_of(letter));
  return c < 0x100     ? fmt::format("\\x{:02x}", c)
         : c < 0x10000 ? fmt::format("\\u{:04x}", c)
                       : fmt::format("\\U{:08x}", c);
}

std::string_view stripped(std::string_view text, cut_ends ends) { return strip_where(text, ends, is_space); }

std::string_view stripped(std::string_view text, std::string_view letters, cut_ends ends) {
  return strip_where(text, ends, [&](std::string_view letter) { return letters.find(letter) != letters.npos; });
}

std::vector<std::string_view> split_at_space(std::string_view text, std::size_t most) {
  std::vector<std::string_view> parts;
  for (text = stripped(text, {.right = false}); !text.empty(); text = stripped(text, {.right = false})) {
    if (parts.size() == most) {
      parts.push_back(stripped(text));
      break;
    }
    std::size_t end = 0;
    while (end < text.size() && !is_space(text.substr(end))) end += first_letter(text.substr(end)).size();
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts;
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view mark, std::size_t most) {
  std::vector<std::string_view> parts;
  for (std::size_t at = text.find(mark); at != text.npos && parts.size() < most; at = text.find(mark)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + mark.size());
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string_view> split_from_right(std::string_view text, std::string_view mark, std::size_t most) {
  std::vector<std::string_view> parts;
  for (std::size_t at = text.rfind(mark); at != text.npos && parts.size() < most; at = text.rfind(mark)) {
    parts.push_back(text.substr(at + mark.size()));
    text = text.substr(0, at);
  }
  parts.push_back(text);
  std::ranges::reverse(parts);
  return parts;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to, std::size_t most) {
  std::string all;
  if (from.empty()) complain("replace: the text to be replaced is empty, which is not supported");
  for (std::size_t at = text.find(from); at != text.npos && most > 0; at = text.find(from), --most) {
    (all += text.substr(0, at)) += to;
    text.remove_prefix(at + from.size());
  }
  return all += text;
}

std::string lowered(std::string_view text) {
  std::string all;
  for (; !text.empty(); text.remove_prefix(first_letter(text).size())) {
    if (code_of(text) == 0x3a3) complain("lower of a text with a Greek sigma is not supported");
    append_lower(all, code_of(text));
  }
  return all;
}

std::string uppered(std::string_view text) {
  require_ascii(text, "upper");
  std::string all{text};
  std::ranges::transform(all, all.begin(), upper);
  return all;
}

std::string capitalized(std::string_view text) {
  require_ascii(text, "capitalize");
  std::string all = lowered(text);
  if (!all.empty()) all[0] = upper(all[0]);
  return all;
}

std::string titled(std::string_view text) {
  require_ascii(text, "title");
  std::string all{text};
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = i > 0 && is_ascii_letter(all[i - 1]) ? lower(all[i]) : upper(all[i]);
  return all;
}

std::string titled_by_jinja(std::string_view text) {
  require_ascii(text, "title");
  std::string all{text};
  bool begins = true;
  for (char& c : all) {
    c = begins ? upper(c) : lower(c);
    begins = is_space({&c, 1}) || std::string_view{"-({[<"}.find(c) != std::string_view::npos;
  }
  return all;
}

std::string json_quoted(std::string_view text, bool ascii) {
  constexpr std::string_view plain{"\"\\\n\r\t\b\f"}, escapes{"\"\\nrtbf"};
  std::string all{'"'};
  for (const std::string_view letter : letters_of(text)) {
    const char32_t c = code_of(letter);
    const auto found = letter.size() == 1 ? plain.find(letter[0]) : plain.npos;
    if (found != plain.npos)
      (all += '\\') += escapes[found];
    else if (c < 0x20 || (ascii && c > 0x7e && c < 0x10000))
      all += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    else if (ascii && c >= 0x10000)
      all += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((static_cast<std::uint32_t>(c) - 0x10000) >> 10),
                         0xdc00 + ((static_cast<std::uint32_t>(c) - 0x10000) & 0x3ff));
    else
      all += letter;
  }
  return all += '"';
}

}  // namespace hydra::jinja
