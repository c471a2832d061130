#include "models/jinja/parser.hpp"

#include "models/jinja/checks.hpp"
#include "models/jinja/complaint.hpp"
#include "models/jinja/filters.hpp"
#include "models/jinja/token.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <utility>

namespace hydra::jinja {

namespace {

using word_list = std::initializer_list<std::string_view>;

constexpr int deepest_tree = 100, deepest_nesting = 200;

std::string shown_token(const token& t) {
  switch (t.kind) {
    case token_kind::end:
      return "the end of the template";
    case token_kind::end_print:
      return "}}";
    case token_kind::end_tag:
      return "%}";
    default:
      return fmt::format("\"{}\"", shown(t.text));
  }
}

/// What the parts of an expression have in common: where it is read.
class expression_parser {
 public:
  explicit expression_parser(std::string_view source) : tokens_(tokens_of(source)) {}

 protected:
  const token& now() const { return tokens_[at_]; }
  const token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is(token_kind kind, std::string_view text) const { return now().kind == kind && now().text == text; }
  bool is_sign(std::string_view text) const { return is(token_kind::sign, text); }
  bool is_word(std::string_view text) const { return is(token_kind::name, text); }
  bool is_one_of(word_list words, token_kind kind) const {
    return now().kind == kind && std::ranges::find(words, now().text) != words.end();
  }
  bool skip_sign(std::string_view text) { return is_sign(text) && (take(), true); }
  bool skip_word(std::string_view text) { return is_word(text) && (take(), true); }

  [[noreturn]] void refuse_here(const std::string& wanted) const {
    complain(fmt::format("{} is given, expected {}", shown_token(now()), wanted), now().line);
  }
  void need_sign(std::string_view text) {
    if (!skip_sign(text)) refuse_here(fmt::format("\"{}\"", text));
  }
  void need_word(std::string_view text) {
    if (!skip_word(text)) refuse_here(text.empty() ? "a name" : std::string{text});
  }
  std::string need_name() {
    if (now().kind != token_kind::name) refuse_here("a name");
    return take().text;
  }

  /// A tree that is too deep could not be run, nor even deleted, without overflow of the stack.
  class nesting {
   public:
    explicit nesting(const expression_parser& p, int& depth) : depth_(depth) {
      if (depth_ >= deepest_nesting) complain("there are too many levels within each other", p.now().line);
      ++depth_;
    }
    nesting(const nesting&) = delete;
    nesting& operator=(const nesting&) = delete;
    ~nesting() { --depth_; }

   private:
    int& depth_;
  };

  expression_ptr made(expression e) const {
    const auto take_depth = [&](const expression_ptr& part) {
      if (part) e.depth = std::max(e.depth, part->depth + 1);
    };
    std::ranges::for_each(e.parts, take_depth);
    for (const auto& [name, part] : e.named) take_depth(part);
    if (e.depth > deepest_tree) complain("an expression has more than 100 parts within each other", e.line);
    return std::make_unique<const expression>(std::move(e));
  }

  template <class... Parts>
  expression_ptr made(operation does, std::size_t line, Parts... parts) const {
    expression e{.does = does, .line = line};
    (e.parts.push_back(std::move(parts)), ...);
    return made(std::move(e));
  }

  expression_ptr parse_expression() {
    const nesting level{*this, depth_};
    expression_ptr e = parse_either();
    while (is_word("if")) {
      const std::size_t line = take().line;
      expression_ptr asked = parse_either(), other = skip_word("else") ? parse_expression() : nullptr;
      e = made(operation::condition, line, std::move(asked), std::move(e), std::move(other));
    }
    return e;
  }

  expression_ptr parse_either() {
    expression_ptr e = parse_both();
    while (is_word("or")) {
      const std::size_t line = take().line;
      e = made(operation::either, line, std::move(e), parse_both());
    }
    return e;
  }

  expression_ptr parse_both() {
    expression_ptr e = parse_no();
    while (is_word("and")) {
      const std::size_t line = take().line;
      e = made(operation::both, line, std::move(e), parse_no());
    }
    return e;
  }

  expression_ptr parse_no() {
    const nesting level{*this, depth_};
    if (!is_word("not")) return parse_compare();
    const std::size_t line = take().line;
    return made(operation::no, line, parse_no());
  }

  std::optional<std::string> comparison() {
    if (is_one_of({"==", "!=", "<", "<=", ">", ">="}, token_kind::sign) || is_word("in")) return take().text;
    if (!is_word("not") || ahead().kind != token_kind::name || ahead().text != "in") return std::nullopt;
    take();
    take();
    return "not in";
  }

  expression_ptr parse_compare() {
    expression e{.does = operation::compare, .line = now().line};
    e.parts.push_back(parse_sum());
    while (auto sign = comparison()) {
      e.signs.push_back(*std::move(sign));
      e.parts.push_back(parse_sum());
    }
    return e.signs.empty() ? std::move(e.parts.front()) : made(std::move(e));
  }

  struct sign_of {
    std::string_view sign;
    operation does;
  };

  template <class Next>
  expression_ptr parse_chain(std::initializer_list<sign_of> signs, const Next& next) {
    expression_ptr e = next();
    for (;;) {
      const auto found = std::ranges::find_if(signs, [&](const sign_of& s) { return is_sign(s.sign); });
      if (found == signs.end()) return e;
      const std::size_t line = take().line;
      e = made(found->does, line, std::move(e), next());
    }
  }

  expression_ptr parse_sum() {
    return parse_chain({{"+", operation::sum}, {"-", operation::difference}}, [&] { return parse_joined(); });
  }
  expression_ptr parse_joined() {
    return parse_chain({{"~", operation::joined}}, [&] { return parse_product(); });
  }
  expression_ptr parse_product() {
    return parse_chain({{"*", operation::product},
                        {"/", operation::quotient},
                        {"//", operation::whole_quotient},
                        {"%", operation::remainder}},
                       [&] { return parse_power(); });
  }
  expression_ptr parse_power() {
    return parse_chain({{"**", operation::power}}, [&] { return parse_unary(true); });
  }

  expression_ptr parse_unary(bool with_filters) {
    const nesting level{*this, depth_};
    expression_ptr e;
    if (const bool negates = is_sign("-"); negates || is_sign("+")) {
      const std::size_t line = take().line;
      e = made(negates ? operation::negate : operation::plus, line, parse_unary(false));
    } else {
      e = parse_primary();
    }
    e = parse_behind(std::move(e));
    return with_filters ? parse_filters(std::move(e)) : std::move(e);
  }

  expression_ptr parse_primary() {
    switch (now().kind) {
      case token_kind::name:
        return parse_name();
      case token_kind::string:
        return parse_string();
      case token_kind::integer:
      case token_kind::real:
        return parse_number();
      default:
        break;
    }
    if (is_sign("(")) return parse_brackets();
    if (is_sign("[")) return parse_list();
    if (is_sign("{")) return parse_map();
    refuse_here("an expression");
  }

  expression_ptr constant(value v, std::size_t line) const {
    return made(expression{.line = line, .is = std::move(v)});
  }

  expression_ptr parse_name() {
    const token t = take();
    if (t.text == "true" || t.text == "True") return constant(true, t.line);
    if (t.text == "false" || t.text == "False") return constant(false, t.line);
    if (t.text == "none" || t.text == "None") return constant(none_type{}, t.line);
    return made(expression{.does = operation::name, .line = t.line, .text = t.text});
  }

  expression_ptr parse_string() {
    token t = take();
    while (now().kind == token_kind::string) t.text += take().text;
    return constant(std::move(t.text), t.line);
  }

  expression_ptr parse_number() {
    const token t = take();
    if (t.kind == token_kind::real) return constant(std::strtod(t.text.c_str(), nullptr), t.line);
    std::int64_t number = 0;
    if (std::from_chars(t.text.data(), t.text.data() + t.text.size(), number).ec != std::errc{})
      complain(fmt::format("the number {} is too large", shown(t.text)), t.line);
    return constant(number, t.line);
  }

  expression_ptr parse_brackets() {
    const std::size_t line = take().line;
    if (skip_sign(")")) return made(operation::tuple, line);
    expression_ptr e = parse_tuple();
    need_sign(")");
    return e;
  }

  bool ends_tuple() const {
    return now().kind == token_kind::end_print || now().kind == token_kind::end_tag || is_sign(")");
  }

  /// One expression, or several with commas.
  expression_ptr parse_tuple() {
    expression e{.does = operation::tuple, .line = now().line};
    e.parts.push_back(parse_expression());
    if (!is_sign(",")) return std::move(e.parts.front());
    while (skip_sign(",") && !ends_tuple()) e.parts.push_back(parse_expression());
    return made(std::move(e));
  }

  expression_ptr parse_list() {
    expression e{.does = operation::list, .line = take().line};
    while (!is_sign("]")) {
      e.parts.push_back(parse_expression());
      if (!skip_sign(",")) break;
    }
    need_sign("]");
    return made(std::move(e));
  }

  expression_ptr parse_map() {
    expression e{.does = operation::map, .line = take().line};
    while (!is_sign("}")) {
      e.parts.push_back(parse_expression());
      need_sign(":");
      e.parts.push_back(parse_expression());
      if (!skip_sign(",")) break;
    }
    need_sign("}");
    return made(std::move(e));
  }

  expression_ptr parse_behind(expression_ptr e) {
    for (;;) {
      if (is_sign("."))
        e = parse_attribute(std::move(e));
      else if (is_sign("["))
        e = parse_item(std::move(e));
      else if (is_sign("("))
        e = parse_call(std::move(e));
      else
        return e;
    }
  }

  expression_ptr parse_attribute(expression_ptr of) {
    const std::size_t line = take().line;
    if (now().kind == token_kind::integer) return made(operation::item, line, std::move(of), parse_number());
    expression e{.does = operation::attribute, .line = line, .text = need_name()};
    e.parts.push_back(std::move(of));
    return made(std::move(e));
  }

  expression_ptr parse_item(expression_ptr of) {
    const std::size_t line = take().line;
    expression_ptr from = is_sign(":") ? nullptr : parse_expression();
    if (skip_sign("]")) return made(operation::item, line, std::move(of), std::move(from));
    if (is_sign(",")) refuse_here("one index");
    need_sign(":");
    expression_ptr to = is_sign(":") || is_sign("]") ? nullptr : parse_expression();
    expression_ptr step = skip_sign(":") && !is_sign("]") ? parse_expression() : nullptr;
    need_sign("]");
    return made(operation::slice, line, std::move(of), std::move(from), std::move(to), std::move(step));
  }

  void parse_arguments(expression& e) {
    need_sign("(");
    while (!is_sign(")")) {
      if (is_sign("*") || is_sign("**")) refuse_here("an argument; * and ** are not supported");
      if (now().kind == token_kind::name && ahead().kind == token_kind::sign && ahead().text == "=") {
        std::string name = take().text;
        take();
        e.named.emplace_back(std::move(name), parse_expression());
      } else {
        if (!e.named.empty()) refuse_here("NAME=... behind other arguments with names");
        e.parts.push_back(parse_expression());
      }
      if (!skip_sign(",")) break;
    }
    need_sign(")");
  }

  expression_ptr parse_call(expression_ptr of) {
    expression e{.does = operation::call, .line = now().line};
    e.parts.push_back(std::move(of));
    parse_arguments(e);
    return made(std::move(e));
  }

  expression_ptr parse_filters(expression_ptr e) {
    for (;;) {
      if (is_sign("|"))
        e = parse_filter(std::move(e));
      else if (is_word("is"))
        e = parse_check(std::move(e));
      else if (is_sign("("))
        e = parse_call(std::move(e));
      else
        return e;
    }
  }

  expression_ptr parse_filter(expression_ptr of) {
    expression e{.does = operation::filter, .line = take().line, .text = need_name()};
    if (!find_filter(e.text))
      complain(fmt::format("there is no filter \"{}\" here{}", shown(e.text), known_instead(e.text, filter_names())),
               e.line);
    e.parts.push_back(std::move(of));
    if (is_sign("(")) parse_arguments(e);
    return made(std::move(e));
  }

  /// Without brackets a test has one argument at most.
  bool begins_argument() const {
    if (now().kind == token_kind::name) return !is_one_of({"else", "or", "and", "is", "if"}, token_kind::name);
    return now().kind == token_kind::string || now().kind == token_kind::integer || now().kind == token_kind::real ||
           is_sign("[") || is_sign("{");
  }

  expression_ptr parse_check(expression_ptr of) {
    const std::size_t line = take().line;
    const bool negated = skip_word("not");
    expression e{.does = operation::check, .line = line, .text = need_name()};
    if (!find_check(e.text))
      complain(fmt::format("there is no test \"{}\" here{}", shown(e.text), known_instead(e.text, check_names())),
               line);
    e.parts.push_back(std::move(of));
    if (is_sign("("))
      parse_arguments(e);
    else if (begins_argument())
      e.parts.push_back(parse_behind(parse_primary()));
    expression_ptr checked = made(std::move(e));
    return negated ? made(operation::no, line, std::move(checked)) : std::move(checked);
  }

  int depth_ = 0;

 private:
  std::vector<token> tokens_;
  std::size_t at_ = 0;
};

class parser : private expression_parser {
 public:
  using expression_parser::expression_parser;

  block parse_all() {
    block all = parse_block({});
    if (now().kind != token_kind::end) refuse_here("what a block may have here");
    return all;
  }

 private:
  /// Up to a tag that begins with one of `ends`, the name of which is the next token, or to the end.
  block parse_block(word_list ends) {
    const nesting level{*this, depth_};
    block all;
    for (;;) {
      if (now().kind == token_kind::end) return all;
      const token t = take();
      if (t.kind == token_kind::text) {
        all.push_back({.does = action::write, .line = t.line, .text = t.text});
      } else if (t.kind == token_kind::print) {
        all.push_back(parse_print(t.line));
      } else {
        if (is_one_of(ends, token_kind::name)) return all;
        all.push_back(parse_statement());
      }
    }
  }

  block parse_body(word_list ends, std::string_view of, std::size_t line) {
    block body = parse_block(ends);
    if (now().kind == token_kind::end) complain(fmt::format("{{% {} %}} has no end", of), line);
    return body;
  }

  void end_tag() {
    if (now().kind != token_kind::end_tag) refuse_here("%}");
    take();
  }

  statement parse_print(std::size_t line) {
    statement s{.does = action::print, .line = line};
    s.parts.push_back(parse_tuple());
    if (now().kind != token_kind::end_print) refuse_here("}}");
    take();
    return s;
  }

  statement parse_statement() {
    const std::size_t line = now().line;
    const std::string word = need_name();
    if (word == "if") return parse_if(line);
    if (word == "for") return parse_for(line);
    if (word == "set") return parse_set(line);
    if (word == "macro") return parse_macro(line);
    if (word == "generation") return parse_generation(line);
    if (word == "break" || word == "continue") return parse_leave(word, line);
    complain(fmt::format("{{% {} %}} is not supported; for, if, set, macro, generation, break and continue are",
                         shown(word)),
             line);
  }

  statement parse_if(std::size_t line) {
    statement s{.does = action::choose, .line = line};
    bool has_else = false;
    for (bool more = true; more;) {
      if (!has_else) s.parts.push_back(parse_tuple());
      end_tag();
      s.bodies.push_back(has_else ? parse_body({"endif"}, "if", line)
                                  : parse_body({"elif", "else", "endif"}, "if", line));
      const std::string word = take().text;
      has_else = word == "else";
      more = word != "endif";
    }
    end_tag();
    return s;
  }

  std::vector<std::string> parse_targets() {
    std::vector<std::string> all;
    const bool bracket = skip_sign("(");
    do {
      if (is_sign("(")) refuse_here("a name; brackets within each other are not supported here");
      if (all.empty() || now().kind == token_kind::name) all.push_back(need_name());
    } while (skip_sign(","));
    if (bracket) need_sign(")");
    return all;
  }

  statement parse_for(std::size_t line) {
    statement s{.does = action::loop, .line = line, .names = parse_targets()};
    need_word("in");
    s.parts.push_back(parse_iterated());
    s.parts.push_back(skip_word("if") ? parse_expression() : nullptr);
    if (is_word("recursive")) refuse_here("%}; recursive loops are not supported");
    end_tag();
    ++loops_;
    s.bodies.push_back(parse_body({"endfor", "else"}, "for", line));
    --loops_;
    if (take().text == "else") {
      end_tag();
      s.bodies.push_back(parse_body({"endfor"}, "for", line));
      take();
    }
    end_tag();
    return s;
  }

  /// Without "if ... else", which would be the condition of the loop.
  expression_ptr parse_iterated() {
    expression e{.does = operation::tuple, .line = now().line};
    e.parts.push_back(parse_either());
    if (!is_sign(",")) return std::move(e.parts.front());
    while (skip_sign(",") && !ends_tuple() && !is_word("if")) e.parts.push_back(parse_either());
    return made(std::move(e));
  }

  statement parse_set(std::size_t line) {
    statement s{.does = action::set, .line = line, .names = parse_targets()};
    if (s.names.size() == 1 && skip_sign(".")) s.text = need_name();
    if (skip_sign("=")) {
      s.parts.push_back(parse_tuple());
      end_tag();
      return s;
    }
    if (s.names.size() > 1) refuse_here("\"=\"");
    s.does = action::set_block;
    end_tag();
    ++captured_;
    s.bodies.push_back(parse_apart({"endset"}, "set", line));
    --captured_;
    return s;
  }

  /// A body that has an end of its own: what breaks a loop around it cannot be in it.
  block parse_apart(word_list ends, std::string_view of, std::size_t line) {
    const int loops = std::exchange(loops_, 0);
    block body = parse_body(ends, of, line);
    take();
    end_tag();
    loops_ = loops;
    return body;
  }

  statement parse_macro(std::size_t line) {
    if (inner_ > 0 || loops_ > 0 || captured_ > 0)
      complain("a macro within a loop or another block of its own is not supported", line);
    statement s{.does = action::define, .line = line, .text = need_name()};
    need_sign("(");
    while (!is_sign(")")) {
      s.names.push_back(need_name());
      if (skip_sign("="))
        s.parts.push_back(parse_expression());
      else if (!s.parts.empty())
        refuse_here("\"=\": arguments before have values");
      if (!skip_sign(",")) break;
    }
    need_sign(")");
    end_tag();
    ++inner_;
    s.bodies.push_back(parse_apart({"endmacro"}, "macro", line));
    --inner_;
    return s;
  }

  statement parse_generation(std::size_t line) {
    if (inner_ > 0 || captured_ > 0)
      complain("{% generation %} is not supported within a macro, a block of set or another {% generation %}", line);
    statement s{.does = action::generation, .line = line};
    end_tag();
    ++inner_;
    s.bodies.push_back(parse_apart({"endgeneration"}, "generation", line));
    --inner_;
    return s;
  }

  statement parse_leave(const std::string& word, std::size_t line) {
    if (loops_ == 0) complain(fmt::format("{{% {} %}} is in no loop", word), line);
    end_tag();
    return {.does = word == "break" ? action::leave : action::next, .line = line};
  }

  int loops_ = 0, captured_ = 0, inner_ = 0;  ///< around the place: for; set; macro or generation
};

}  // namespace

block parse(std::string_view source) { return parser{source}.parse_all(); }

bool has_generation(const block& body) {
  return std::ranges::any_of(body, [](const statement& s) {
    return s.does == action::generation || std::ranges::any_of(s.bodies, has_generation);
  });
}

}  // namespace hydra::jinja
