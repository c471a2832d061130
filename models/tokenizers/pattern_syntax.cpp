#include "models/tokenizers/pattern_syntax.hpp"

#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cctype>
#include <string_view>

namespace hydra {

namespace {

constexpr std::string_view word = R"(\p{L}\p{M}\p{Nd}\p{Pc})";

bool compiles(const std::string& pattern) {
  int error = 0;
  std::size_t at = 0;
  pcre2_code* const code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF, &error, &at, nullptr);
  pcre2_code_free(code);
  return code != nullptr;
}

class translation {
 public:
  explicit translation(std::string_view pattern) : in_{pattern} {}

  std::string run() {
    while (at_ < in_.size()) step();
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    hydra::refuse(
        fmt::format("the pattern \"{}\": {} at character {}, which Hydra does not read", shown(in_), why, at_));
  }

  bool ahead(std::string_view text) const { return in_.substr(at_).starts_with(text); }

  void copy(std::size_t characters) {
    out_ += in_.substr(at_, characters);
    at_ += characters;
  }

  void step() {
    if (ahead("\\")) return escape();
    in_class_ ? class_character() : character();
  }

  void character() {
    if (ahead("(?")) return group();
    if (ahead("{")) return count();
    in_class_ = ahead("[");
    copy(in_class_ ? (ahead("[^") ? 2 : 1) : 1);
    if (in_class_ && ahead("]")) copy(1);  // a bracket that comes first does not end the class
  }

  void class_character() {
    if (ahead("[:")) return named_class();
    if (ahead("[")) refuse("a class within a class");
    if (ahead("&&")) refuse("an intersection of classes");
    in_class_ = !ahead("]");
    copy(1);
  }

  void named_class() {
    const std::size_t end = in_.find(":]", at_);
    if (end == std::string_view::npos) refuse("[: without :]");
    copy(end + 2 - at_);
  }

  void group() {
    for (const std::string_view kind : {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?i)", "(?-i:"})
      if (ahead(kind)) return copy(kind.size());
    refuse("an unusual kind of group");
  }

  /// {n}, {n,}, {n,m}; Oniguruma interprets {,m} and a plus after it differently.
  void count() {
    const std::size_t end = in_.find('}', at_);
    if (end == std::string_view::npos || at_ + 1 >= in_.size() ||
        !std::isdigit(static_cast<unsigned char>(in_[at_ + 1])))
      refuse("a brace that does not start a count");
    copy(end + 1 - at_);
    if (ahead("+")) refuse("a plus after a count");
  }

  void emit(std::string_view text) {
    out_ += text;
    at_ += 2;
  }

  void escape() {
    if (at_ + 1 >= in_.size()) refuse("a backslash at the end");
    const char c = in_[at_ + 1];
    if (!std::isalnum(static_cast<unsigned char>(c))) return copy(2);
    switch (c) {
      case 's':
        return emit(R"(\p{White_Space})");
      case 'S':
        return emit(R"(\P{White_Space})");
      case 'd':
        return emit(R"(\p{Nd})");
      case 'D':
        return emit(R"(\P{Nd})");
      case 'w':
        return emit(in_class_ ? std::string{word} : fmt::format("[{}]", word));
      case 'W':
        return in_class_ ? refuse("\\W in a class") : emit(fmt::format("[^{}]", word));
      case 'v':
        return emit(R"(\x0b)");
      case 'n':
      case 'r':
      case 't':
      case 'f':
      case 'a':
      case 'e':
        return copy(2);
      case 'A':
      case 'z':
        return copy(2);
      case 'p':
      case 'P':
        return property();
      case 'u':
        return code_point();
      case 'x':
        return hex();
      default:
        refuse(fmt::format("\\{}", c));
    }
  }

  void property() {
    const std::size_t end = in_.find('}', at_);
    if (in_.substr(at_ + 2, 1) != "{" || end == std::string_view::npos) refuse("a property without braces");
    std::string_view name = in_.substr(at_ + 3, end - at_ - 3);
    const std::string_view negation = name.starts_with('^') ? "^" : "";
    name.remove_prefix(negation.size());
    const std::string script = fmt::format("sc:{}", name);
    const bool is_script = name.size() > 2 && compiles(fmt::format("\\p{{{}}}", script));
    out_ += fmt::format("\\{}{{{}{}}}", in_[at_ + 1], negation, is_script ? script : std::string{name});
    at_ = end + 1;
  }

  void code_point() {
    if (at_ + 6 > in_.size()) refuse("\\u without four digits");
    out_ += fmt::format("\\x{{{}}}", in_.substr(at_ + 2, 4));
    at_ += 6;
  }

  void hex() {
    const bool braced = in_.substr(at_ + 2, 1) == "{";
    const bool ascii = at_ + 3 < in_.size() && in_[at_ + 2] >= '0' && in_[at_ + 2] <= '7';
    if (!braced && !ascii) refuse("\\x of a single byte that is not ASCII");
    const std::size_t end = in_.find('}', at_);
    if (braced && end == std::string_view::npos) refuse("\\x{ without }");
    copy(braced ? end + 1 - at_ : 4);
  }

  std::string_view in_;
  std::size_t at_ = 0;
  std::string out_;
  bool in_class_ = false;
};

}  // namespace

std::string to_pcre2(const std::string& pattern) { return translation{pattern}.run(); }

}  // namespace hydra
