#include "models/jinja/token.hpp"

#include "models/jinja/complaint.hpp"
#include "models/jinja/texts.hpp"
#include "models/tokenizers/unicode.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace hydra::jinja {

namespace {

/// "\r\n" and "\r" are "\n"; the last line has no end.
std::string with_usual_lines(std::string_view source) {
  std::string all;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') continue;
    all += source[i] == '\r' ? '\n' : source[i];
  }
  if (all.ends_with('\n')) all.pop_back();
  return all;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_letter(char c) {
  const auto u = static_cast<unsigned char>(c);
  return std::isalnum(u) != 0 || c == '_' || u >= 0x80;
}

/// The code point of that many hexadecimal digits.
char32_t hexadecimal(std::string_view digits, std::size_t line) {
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  const bool is_code = error == std::errc{} && end == digits.data() + digits.size() && code <= 0x10ffff;
  if (!is_code || (code >= 0xd800 && code < 0xe000))
    complain(fmt::format("\"{}\" in quotes is not a code point in hexadecimal digits", shown(digits)), line);
  return code;
}

/// Python's escapes.
std::string unescaped(std::string_view quoted, std::size_t line) {
  constexpr std::string_view names{"ntrabfv\\'\""}, meant{"\n\t\r\a\b\f\v\\'\""};
  std::string text;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] != '\\' || i + 1 == quoted.size()) {
      text += quoted[i];
      continue;
    }
    const char c = quoted[++i];
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (const auto known = names.find(c); known != names.npos) {
      text += meant[known];
    } else if (digits > 0) {
      append_utf8(text, hexadecimal(quoted.substr(i + 1, digits), line));
      i += std::min(digits, quoted.size() - i - 1);
    } else if (is_digit(c) || c == 'N') {
      complain(fmt::format("the escape \"\\{}\" is not supported", c), line);
    } else if (c != '\n') {
      (text += '\\') += c;
    }
  }
  return text;
}

class lexer {
 public:
  explicit lexer(std::string_view source) : rest_(source) {}

  std::vector<token> all() {
    while (!rest_.empty()) {
      const std::size_t at = next_tag();
      const std::string_view text = rest_.substr(0, at);
      if (at == rest_.size()) {
        add_text(text);
        break;
      }
      take_tag(text);
    }
    add(token_kind::end, "");
    return std::move(found_);
  }

 private:
  std::size_t next_tag() const {
    return std::min({rest_.find("{{"), rest_.find("{%"), rest_.find("{#"), rest_.size()});
  }

  /// Goes on, counting lines.
  void skip(std::size_t bytes) {
    const std::string_view gone = rest_.substr(0, bytes);
    line_ += static_cast<std::size_t>(std::ranges::count(gone, '\n'));
    if (!gone.empty()) line_begins_ = gone.back() == '\n';
    rest_.remove_prefix(gone.size());
  }
  void skip_space() { skip(rest_.size() - stripped(rest_, {.right = false}).size()); }

  void add(token_kind kind, std::string text) { found_.push_back({kind, std::move(text), line_}); }
  void add_text(std::string_view text) {
    if (!text.empty()) add(token_kind::text, std::string{text});
  }

  void take_tag(std::string_view text) {
    const char kind = rest_[text.size() + 1];
    const std::string_view after = rest_.substr(text.size() + 2);
    const char sign = after.starts_with('-') ? '-' : after.starts_with('+') ? '+' : ' ';
    add_text(before_tag(text, kind, sign));
    skip(text.size() + (sign == ' ' ? 2 : 3));
    if (kind == '#') return skip_comment();
    add(kind == '{' ? token_kind::print : token_kind::tag, "");
    take_inside(kind == '{' ? '}' : '%');
  }

  /// What is left of a text before a tag.
  std::string_view before_tag(std::string_view text, char kind, char sign) const {
    if (sign == '-') return stripped(text, {.left = false});
    if (sign == '+' || kind == '{') return text;
    const auto end = text.rfind('\n');
    const std::size_t line = end == text.npos ? 0 : end + 1;
    const bool blank = stripped(text.substr(line)).empty() && (line > 0 || line_begins_);
    return blank ? text.substr(0, line) : text;
  }

  void skip_comment() {
    const auto end = rest_.find("#}");
    if (end == rest_.npos) complain("the comment that begins here does not end with #}", line_);
    const char sign = end > 0 ? rest_[end - 1] : ' ';
    skip(end + 2);
    after_tag(sign);
  }

  /// trim_blocks, unless a sign says otherwise.
  void after_tag(char sign) {
    if (sign == '-')
      skip_space();
    else if (sign != '+' && rest_.starts_with('\n'))
      skip(1);
  }

  bool take_end(char closing) {
    const char sign = !rest_.empty() && (rest_[0] == '-' || (rest_[0] == '+' && closing == '%')) ? rest_[0] : ' ';
    const std::size_t skipped = sign == ' ' ? 0 : 1;
    const char end[]{closing, '}'};
    if (!open_.empty() || !rest_.substr(skipped).starts_with(std::string_view{end, 2})) return false;
    add(closing == '}' ? token_kind::end_print : token_kind::end_tag, "");
    skip(skipped + 2);
    if (closing == '%' || sign == '-') after_tag(sign);
    return true;
  }

  void take_inside(char closing) {
    const std::size_t begin = line_;
    open_.clear();
    for (skip_space(); !take_end(closing); skip_space()) {
      if (rest_.empty()) complain(fmt::format("what begins here does not end with {}}}", closing), begin);
      take_word();
    }
  }

  void take_word() {
    if (rest_[0] == '"' || rest_[0] == '\'') return take_string();
    if (is_digit(rest_[0])) return take_number();
    if (is_name_letter(rest_[0])) return take_name();
    take_sign();
  }

  void take_name() {
    std::size_t length = 0;
    while (length < rest_.size() && is_name_letter(rest_[length])) ++length;
    add(token_kind::name, std::string{rest_.substr(0, length)});
    skip(length);
  }

  void take_string() {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != rest_[0]) end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) complain("the text in quotes that begins here does not end", line_);
    add(token_kind::string, unescaped(rest_.substr(1, end - 1), line_));
    skip(end + 1);
  }

  std::size_t digits(std::size_t from) const {
    std::size_t end = from;
    while (end < rest_.size() && (is_digit(rest_[end]) || (rest_[end] == '_' && end > from))) ++end;
    return end;
  }

  void take_number() {
    const bool after_dot = !found_.empty() && found_.back().kind == token_kind::sign && found_.back().text == ".";
    std::size_t end = digits(0);
    bool real = false;
    if (!after_dot && end + 1 < rest_.size() && rest_[end] == '.' && is_digit(rest_[end + 1])) {
      end = digits(end + 1);
      real = true;
    }
    if (end < rest_.size() && is_name_letter(rest_[end]))
      complain(fmt::format("numbers as \"{}...\" are not supported", shown(rest_.substr(0, end + 1))), line_);
    std::string text{rest_.substr(0, end)};
    std::erase(text, '_');
    add(real ? token_kind::real : token_kind::integer, std::move(text));
    skip(end);
  }

  void take_sign() {
    constexpr std::array<std::string_view, 25> signs{"//", "**", "==", "!=", ">=", "<=", "+", "-", "*",
                                                     "/",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                     "<",  ">",  "=",  ".",  ":",  "|",  ","};
    const auto found = std::ranges::find_if(signs, [&](std::string_view s) { return rest_.starts_with(s); });
    if (found == signs.end()) complain(fmt::format("\"{}\" is not expected", shown(first_letter(rest_))), line_);
    balance((*found)[0]);
    add(token_kind::sign, std::string{*found});
    skip(found->size());
  }

  /// Within brackets, "}}" does not end what "{{" begins.
  void balance(char sign) {
    constexpr std::string_view opening{"([{"}, closing{")]}"};
    if (const auto kind = opening.find(sign); kind != opening.npos) open_ += closing[kind];
    if (closing.find(sign) == closing.npos) return;
    if (open_.empty() || open_.back() != sign) complain(fmt::format("\"{}\" closes nothing that is open", sign), line_);
    open_.pop_back();
  }

  std::string_view rest_;
  std::vector<token> found_;
  std::string open_;  ///< what closes each bracket that is open
  std::size_t line_ = 1;
  bool line_begins_ = true;
};

}  // namespace

std::vector<token> tokens_of(std::string_view source) {
  require_utf8(source);
  const std::string lines = with_usual_lines(source);
  return lexer{lines}.all();
}

}  // namespace hydra::jinja
