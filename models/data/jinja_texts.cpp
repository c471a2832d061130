#include "models/data/jinja_texts.hpp"

#include "runtime/base/trimmed.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace hydra {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether a condition asks for what conversations of texts do not have.
bool asks_for_others(std::string_view condition) {
  constexpr std::array words{"tool", "document", "image", "video", "audio", "add_generation_prompt"};
  return std::ranges::any_of(words, [&](std::string_view word) {
    const auto at = condition.find(word);
    if (at == condition.npos) return false;
    std::string_view before = condition.substr(0, at);
    before.remove_suffix(before.size() - (before.find_last_of(" \t\r\n(") + 1));  // of "message.tool_calls"
    return !trimmed(before, " \t\r\n(").ends_with("not");
  });
}

/// Of the escapes of a text in quotes those that templates have.
std::string unescaped(std::string_view quoted) {
  std::string text;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    const bool escape = quoted[i] == '\\' && i + 1 < quoted.size();
    if (escape) ++i;
    text += !escape ? quoted[i] : quoted[i] == 'n' ? '\n' : quoted[i] == 't' ? '\t' : quoted[i];
  }
  return text;
}

/// Whether what stands between these is a value to be compared with.
bool is_compared(std::string_view before, std::string_view after) {
  before = trimmed(before);
  after = trimmed(after);
  return before.ends_with("==") || before.ends_with("!=") || before.ends_with(" in") || after.starts_with("==") ||
         after.starts_with("!=") || after.starts_with("in ") || after.starts_with("not in ");
}

/// Of a text in quotes that begins there: its last character, or the end.
std::size_t end_of_quoted(std::string_view code, std::size_t begin) {
  std::size_t i = begin + 1;
  while (i < code.size() && code[i] != code[begin]) i += code[i] == '\\' ? 2 : 1;
  return std::min(i, code.size());
}

/// Where what has begun with "{{", "{%" or "{#" ends: comments have no quotes.
std::size_t end_of_tag(std::string_view code) {
  const std::string end{code[1] == '{' ? '}' : code[1], '}'};
  if (code[1] == '#') return std::min(code.find(end, 2), code.size());
  for (std::size_t i = 2; i < code.size(); ++i) {
    if (code.substr(i).starts_with(end)) return i;
    if (code[i] == '"' || code[i] == '\'') i = end_of_quoted(code, i);
  }
  return code.size();
}

class text_finder {
 public:
  std::vector<std::string> of(std::string_view rest) {
    while (!rest.empty()) {
      const auto begin = std::min({rest.find("{{"), rest.find("{%"), rest.find("{#"), rest.size()});
      add(rest.substr(0, begin));
      rest.remove_prefix(begin);
      if (rest.size() < 2) break;
      const auto length = end_of_tag(rest);
      take(rest[1], trimmed(rest.substr(2, length - 2), " \t\r\n-+"));
      rest.remove_prefix(std::min(length + 2, rest.size()));
    }
    return std::move(found_);
  }

 private:
  bool is_skipped() const { return !skipped_.empty() && skipped_.back(); }

  void add(std::string_view text) {
    while (!is_skipped() && !text.empty()) {
      const auto line = text.substr(0, text.find('\n'));
      if (const auto words = trimmed(line); words.size() > 1) found_.emplace_back(words);
      text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
  }

  void take(char kind, std::string_view inside) {
    if (kind == '{') add_quoted(inside);
    if (kind == '%') obey(inside);
  }

  void obey(std::string_view statement) {
    const std::string_view word = statement.substr(0, statement.find_first_of(ascii_blanks)),
                           rest = statement.substr(word.size());
    const bool sets = word == "set" && rest.find('=') != rest.npos;
    if (sets) return add_quoted(rest);
    if (word.starts_with("end") || word == "elif" || word == "else") close();
    if (word == "if" || word == "elif" || word == "for") skipped_.push_back(is_skipped() || asks_for_others(rest));
    if (word == "macro") skipped_.push_back(true);
    if (word == "else" || word == "set" || word == "generation" || word == "filter" || word == "call")
      skipped_.push_back(is_skipped());
  }

  void close() {
    if (!skipped_.empty()) skipped_.pop_back();
  }

  void add_quoted(std::string_view expression) {
    std::string open;  // of each bracket around it: '(', or '[' for what has keys or arguments
    for (std::size_t i = 0; i < expression.size(); ++i) {
      const char c = expression[i];
      if (c == '(') open += i > 0 && is_name(expression[i - 1]) ? '[' : '(';
      if (c == '[' || c == '{') open += '[';
      if ((c == ')' || c == ']' || c == '}') && !open.empty()) open.pop_back();
      if (c != '"' && c != '\'') continue;
      const std::size_t end = end_of_quoted(expression, i), after = std::min(end + 1, expression.size());
      if (open.find('[') == open.npos && !is_compared(expression.substr(0, i), expression.substr(after)))
        add(unescaped(expression.substr(i + 1, end - i - 1)));
      i = end;
    }
  }

  std::vector<std::string> found_;
  std::vector<bool> skipped_;  ///< of each block around the place
};

}  // namespace

std::vector<std::string> jinja_texts(std::string_view source) { return text_finder{}.of(source); }

}  // namespace hydra
