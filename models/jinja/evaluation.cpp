#include "models/jinja/arguments.hpp"
#include "models/jinja/checks.hpp"
#include "models/jinja/filters.hpp"
#include "models/jinja/methods.hpp"
#include "models/jinja/numbers.hpp"
#include "models/jinja/renderer.hpp"
#include "models/jinja/texts.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

// The expressions of a template: renderer.hpp.

namespace hydra::jinja {

value renderer::eval(const expression& e, const scope& in) {
  const budget::level level{limits_};
  limits_.take_steps();
  switch (e.does) {
    case operation::constant:
      return e.is;
    case operation::name:
      return name(e.text, in);
    case operation::list:
    case operation::tuple:
      return eval_list(e, in);
    case operation::map:
      return eval_map(e, in);
    case operation::attribute:
      return eval_attribute(e, in);
    case operation::item: {
      const value of = eval(*e.parts[0], in), key = eval(*e.parts[1], in);
      line_ = e.line;
      return item_of(of, key, limits_);
    }
    case operation::slice:
      return eval_slice(e, in);
    case operation::call:
      return eval_call(e, in);
    case operation::filter:
      return eval_filter(e, in);
    case operation::check:
      return eval_check(e, in);
    case operation::compare:
      return eval_compare(e, in);
    case operation::condition:
      return eval_condition(e, in);
    case operation::no:
      return !is_true(*e.parts[0], in);
    case operation::negate:
    case operation::plus:
      return eval_sign(e, in);
    default:
      return eval_two(e, in);
  }
}

value renderer::name(const std::string& name, const scope& in) const {
  for (const scope* s = &in; s; s = s->outer)
    if (const value* const found = find(s->names, name)) return *found;
  if (const value::function f = find_function(name)) return value::any{f};
  return value::nothing(name);
}

value renderer::eval_list(const expression& e, const scope& in) {
  value_list all;
  for (const expression_ptr& part : e.parts) all.push_back(eval(*part, in));
  limits_.take_bytes(all.size() * sizeof(value));
  line_ = e.line;
  return value::of_list(std::move(all), e.does == operation::tuple);
}

value renderer::eval_map(const expression& e, const scope& in) {
  value_map all;
  for (std::size_t i = 0; i + 1 < e.parts.size(); i += 2) {
    const value key = eval(*e.parts[i], in);
    line_ = e.line;
    if (!key.string()) complain(fmt::format("a key of a mapping is {}; only texts are supported", kind_of(key)));
    put(all, *key.string(), eval(*e.parts[i + 1], in));
  }
  limits_.take_bytes(all.size() * 2 * sizeof(value));
  return value::of_map(std::move(all));
}

value renderer::eval_attribute(const expression& e, const scope& in) {
  const value of = eval(*e.parts[0], in);
  line_ = e.line;
  if (find_method(of, e.text))
    complain(fmt::format("the method {}.{} is not called, which is not supported", kind_of(of), shown(e.text)));
  return attribute_of(of, e.text);
}

namespace {

/// Python's slice.indices().
std::vector<std::size_t> sliced_places(const std::optional<std::int64_t> (&bounds)[3], std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  const std::int64_t step = std::clamp<std::int64_t>(bounds[2].value_or(1), -count - 1, count + 1);
  if (step == 0) complain("the step of a slice is 0");
  const auto placed = [&](const std::optional<std::int64_t>& bound, std::int64_t usual) {
    if (!bound) return usual;
    const std::int64_t lowest = step < 0 ? -1 : 0, most = step < 0 ? count - 1 : count;
    const std::int64_t at = *bound < 0 ? std::max(*bound, -count - 1) + count : std::min(*bound, count);
    return std::clamp(at, lowest, std::max(lowest, most));
  };
  const std::int64_t from = placed(bounds[0], step < 0 ? count - 1 : 0), to = placed(bounds[1], step < 0 ? -1 : count);
  std::vector<std::size_t> places;
  for (std::int64_t i = from; step > 0 ? i < to : i > to; i += step) places.push_back(static_cast<std::size_t>(i));
  return places;
}

}  // namespace

value renderer::eval_slice(const expression& e, const scope& in) {
  const value of = eval(*e.parts[0], in);
  std::optional<std::int64_t> bounds[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const value bound = e.parts[i + 1] ? eval(*e.parts[i + 1], in) : value{none_type{}};
    line_ = e.line;
    if (bound.is_none()) continue;
    if (!bound.as<std::int64_t>()) complain(fmt::format("{} is given as a bound of a slice", kind_of(bound)));
    bounds[i] = *bound.as<std::int64_t>();
  }
  if (const auto* list = of.as<value::list>()) {
    value_list all;
    for (const std::size_t i : sliced_places(bounds, (*list)->items.size())) all.push_back((*list)->items[i]);
    limits_.take_bytes(all.size() * sizeof(value));
    return value::of_list(std::move(all), (*list)->tuple);
  }
  if (!of.string()) complain(fmt::format("a slice of {}", kind_of(of)));
  limits_.take_bytes(of.string()->size() * 2);
  const std::vector<std::string_view> letters = letters_of(*of.string());
  std::string text;
  for (const std::size_t i : sliced_places(bounds, letters.size())) text += letters[i];
  return {std::move(text)};
}

arguments renderer::given(const expression& e, std::string_view of, const scope& in) {
  arguments all{of, {}, {}, limits_};
  for (std::size_t i = 1; i < e.parts.size(); ++i) all.plain.push_back(eval(*e.parts[i], in));
  for (const auto& [name, part] : e.named) all.named.emplace_back(name, eval(*part, in));
  return all;
}

value renderer::eval_call(const expression& e, const scope& in) {
  const expression& called = *e.parts[0];
  if (called.does == operation::attribute) {
    const value of = eval(*called.parts[0], in);
    const arguments with = given(e, called.text, in);
    line_ = e.line;
    if (const method_function method = find_method(of, called.text)) return method(of, with);
    const value found = attribute_of(of, called.text);
    if (const auto* f = found.as<value::function>()) return (*f)->run(with);
    complain(fmt::format("{} has no method \"{}\" here", kind_of(of), shown(called.text)));
  }
  const value of = eval(called, in);
  const arguments with = given(e, called.text, in);
  line_ = e.line;
  if (const auto* f = of.as<value::function>()) return (*f)->run(with);
  if (called.does == operation::name && called.text == "strftime_now") return date_text(with);
  complain(fmt::format("{} is called", kind_of(of)));
}

value renderer::eval_filter(const expression& e, const scope& in) {
  const value of = eval(*e.parts[0], in);
  const arguments with = given(e, e.text, in);
  line_ = e.line;
  return find_filter(e.text)(of, with);
}

value renderer::eval_check(const expression& e, const scope& in) {
  const value of = eval(*e.parts[0], in);
  const arguments with = given(e, e.text, in);
  line_ = e.line;
  return find_check(e.text)(of, with);
}

value renderer::eval_compare(const expression& e, const scope& in) {
  value left = eval(*e.parts[0], in);
  for (std::size_t i = 0; i < e.signs.size(); ++i) {
    value right = eval(*e.parts[i + 1], in);
    const std::string& sign = e.signs[i];
    line_ = e.line;
    const bool holds = sign == "in"       ? contains(right, left, limits_)
                       : sign == "not in" ? !contains(right, left, limits_)
                                          : find_check(sign)(left, {sign, {right}, {}, limits_});
    if (!holds) return false;
    left = std::move(right);
  }
  return true;
}

value renderer::eval_condition(const expression& e, const scope& in) {
  if (is_true(*e.parts[0], in)) return eval(*e.parts[1], in);
  return e.parts[2] ? eval(*e.parts[2], in) : value::nothing("else");
}

value renderer::eval_two(const expression& e, const scope& in) {
  value a = eval(*e.parts[0], in);
  if (e.does == operation::both) return truth(a) ? eval(*e.parts[1], in) : a;
  if (e.does == operation::either) return truth(a) ? a : eval(*e.parts[1], in);
  const value b = eval(*e.parts[1], in);
  line_ = e.line;
  return e.does == operation::joined ? value{str(a, limits_) + str(b, limits_)} : computed(e.does, a, b, limits_);
}

value renderer::eval_sign(const expression& e, const scope& in) {
  const value v = eval(*e.parts[0], in);
  line_ = e.line;
  if (e.does == operation::negate) return negated(v);
  if (!is_number(v)) complain(fmt::format("+ of {}", kind_of(v)));
  return v;
}

}  // namespace hydra::jinja
