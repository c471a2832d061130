#include "models/jinja/renderer.hpp"

#include "models/jinja/arguments.hpp"
#include "models/jinja/checks.hpp"
#include "models/jinja/filters.hpp"
#include "models/jinja/methods.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace hydra::jinja {

renderer::renderer(const block& tree, const value_map& given)
    : tree_(tree), globals_{.names = given}, top_{.outer = &globals_} {}

rendering renderer::run() {
  run(tree_, top_);
  return std::move(done_);
}

renderer::leaving renderer::run(const block& body, scope& in) {
  const budget::level level{limits_};
  for (const statement& s : body)
    if (const leaving left = run(s, in); left != leaving::no) return left;
  return leaving::no;
}

renderer::leaving renderer::run(const statement& s, scope& in) {
  limits_.take_steps();
  line_ = s.line;
  switch (s.does) {
    case action::write:
      write(s.text);
      break;
    case action::print:
      write(str(eval(*s.parts.front(), in), limits_));
      break;
    case action::choose:
      return run_choice(s, in);
    case action::loop:
      return run_loop(s, in);
    case action::set:
      run_set(s, eval(*s.parts.front(), in), in);
      break;
    case action::set_block:
      run_set(s, captured(s.bodies.front(), in), in);
      break;
    case action::define:
      define(s, in);
      break;
    case action::generation:
      run_generation(s, in);
      break;
    case action::leave:
      return leaving::loop;
    case action::next:
      return leaving::turn;
  }
  return leaving::no;
}

void renderer::write(std::string_view text) {
  limits_.take_bytes(text.size());
  *out_ += text;
}

renderer::leaving renderer::run_choice(const statement& s, scope& in) {
  for (std::size_t i = 0; i < s.bodies.size(); ++i)
    if (i >= s.parts.size() || is_true(*s.parts[i], in)) return run(s.bodies[i], in);
  return leaving::no;
}

namespace {

/// One name has the value; several have its items.
void assign(const std::vector<std::string>& names, const value& v, scope& in, budget& limits) {
  if (names.size() == 1) return put(in.names, names.front(), v);
  const value_list parts = items_of(v, limits);
  if (parts.size() != names.size())
    complain(fmt::format("{} values are given to {} names", parts.size(), names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) put(in.names, names[i], parts[i]);
}

}  // namespace

value_list renderer::filtered(const statement& s, value_list items, const scope& in) {
  if (!s.parts[1]) return items;
  value_list kept;
  for (value& each : items) {
    scope turn{.outer = &in};
    assign(s.names, each, turn, limits_);
    if (is_true(*s.parts[1], turn)) kept.push_back(std::move(each));
  }
  return kept;
}

renderer::leaving renderer::run_loop(const statement& s, scope& in) {
  const auto loop = std::make_shared<loop_box>();
  loop->items = filtered(s, items_of(eval(*s.parts[0], in), limits_), in);
  loop->depth = loops_ + 1;
  if (loop->items.empty()) {
    scope other{.outer = &in};
    return s.bodies.size() > 1 ? run(s.bodies[1], other) : leaving::no;
  }
  ++loops_;
  for (; loop->index < loop->items.size(); ++loop->index) {
    limits_.take_steps();
    scope turn{.outer = &in};
    put(turn.names, "loop", value::any{loop});
    assign(s.names, loop->items[loop->index], turn, limits_);
    if (run(s.bodies[0], turn) == leaving::loop) break;
  }
  --loops_;
  return leaving::no;
}

void renderer::run_set(const statement& s, value v, scope& in) {
  if (s.text.empty()) return assign(s.names, v, in, limits_);
  const value of = name(s.names.front(), in);
  const auto* space = of.as<value::space>();
  if (!space) complain(fmt::format("{}.{} is set, but \"{}\" is not a namespace", s.names[0], s.text, s.names[0]));
  value::of_list({v});  // what a namespace may not hold either
  limits_.take_bytes(sizeof(value));
  put((*space)->entries, s.text, std::move(v));
}

std::string renderer::captured(const block& body, scope& in) {
  std::string text;
  std::string* const before = std::exchange(out_, &text);
  scope inner{.outer = &in};
  run(body, inner);
  out_ = before;
  return text;
}

void renderer::run_generation(const statement& s, scope& in) {
  const std::size_t begin = done_.text.size();
  scope inner{.outer = &in};
  run(s.bodies.front(), inner);
  if (done_.text.size() > begin) done_.generated.push_back({begin, done_.text.size()});
}

void renderer::define(const statement& s, scope& in) {
  const auto run_it = [this, &s](const arguments& with) { return call_macro(s, with); };
  put(in.names, s.text,
      value::any{value::function{std::make_shared<const function_box>(function_box{s.text, run_it})}});
}

/// A macro knows what the template has set outside of loops.
value renderer::call_macro(const statement& s, const arguments& with) {
  const std::size_t line = line_, without = s.names.size() - s.parts.size();
  for (const auto& [name, v] : with.named)
    if (std::ranges::find(s.names, name) == s.names.end())
      complain(fmt::format("the macro {} has no argument \"{}\"", shown(s.text), shown(name)));
  if (with.plain.size() > s.names.size())
    complain(
        fmt::format("the macro {} has {} arguments, {} are given", shown(s.text), s.names.size(), with.plain.size()));
  scope inner{.outer = &top_};
  for (std::size_t i = 0; i < s.names.size(); ++i) {
    const value* const found = with.at(i, s.names[i]);
    value v = found ? *found : i >= without ? eval(*s.parts[i - without], inner) : value::nothing(s.names[i]);
    put(inner.names, s.names[i], std::move(v));
  }
  std::string text = captured(s.bodies.front(), inner);
  line_ = line;
  return {std::move(text)};
}

}  // namespace hydra::jinja
