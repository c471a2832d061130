#include "models/jinja/methods.hpp"

#include "models/jinja/checks.hpp"
#include "models/jinja/filters.hpp"
#include "models/jinja/texts.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace hydra::jinja {

namespace {

using method_table = std::map<std::string_view, method_function>;

const std::string& self(const value& v) { return *v.string(); }

value strip_ends(const value& v, const arguments& with, cut_ends ends) {
  with.only(1);
  const value* const letters = with.at(0);
  const bool named = letters && !letters->is_none();
  with.limits.take_search(self(v).size(), named ? with.need_text(0).size() : 0);
  return with.text(std::string{named ? stripped(self(v), with.need_text(0), ends) : stripped(self(v), ends)});
}

value texts(const std::vector<std::string_view>& parts, const arguments& with) {
  value_list all;
  for (const std::string_view part : parts) {
    with.limits.take_bytes(sizeof(value));
    all.push_back(with.text(std::string{part}));
  }
  return value::of_list(std::move(all));
}

value split_text(const value& v, const arguments& with, bool from_right) {
  with.only(2, {"sep", "maxsplit"});
  const std::int64_t count = with.integer(1, "maxsplit", -1);
  const std::size_t most = count < 0 ? std::string::npos : static_cast<std::size_t>(count);
  const value* const mark = with.at(0, "sep");
  if (!mark || mark->is_none()) {
    if (from_right && count >= 0) complain("rsplit without a mark but with a number is not supported");
    return texts(split_at_space(self(v), most), with);
  }
  const std::string& by = with.need_text(0, "sep");
  if (by.empty()) complain(fmt::format("{}: the mark is empty", with.of));
  with.limits.take_search(self(v).size(), by.size());
  return texts(from_right ? split_from_right(self(v), by, most) : split_at(self(v), by, most), with);
}

value lines_of(const value& v, const arguments& with) {
  with.only(0);
  for (const std::string_view other : {"\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"})
    if (self(v).find(other) != std::string::npos)
      complain("splitlines of a text with other ends of lines than \"\\n\" is not supported");
  if (self(v).empty()) return value::of_list({});
  std::string_view text = self(v);
  if (text.ends_with('\n')) text.remove_suffix(1);
  return texts(split_at(text, "\n", text.size() + 1), with);
}

/// One text, or one of a tuple.
template <class Is>
bool is_one_of(const arguments& with, const Is& is) {
  with.only(1);
  const value& asked = with.need(0);
  if (!asked.items()) return is(with.need_text(0));
  return std::ranges::any_of(*asked.items(), [&](const value& v) {
    if (!v.string()) complain(fmt::format("{}: {} is given, expected texts", with.of, kind_of(v)));
    return is(*v.string());
  });
}

value place_of(const value& v, const arguments& with, bool from_right) {
  with.only(1);
  const std::string& what = with.need_text(0);
  with.limits.take_search(self(v).size(), what.size());
  const auto at = from_right ? self(v).rfind(what) : self(v).find(what);
  return at == std::string::npos ? std::int64_t{-1} : static_cast<std::int64_t>(code_points(self(v).substr(0, at)));
}

value count_of(const value& v, const arguments& with) {
  with.only(1);
  const std::string& what = with.need_text(0);
  if (what.empty()) return static_cast<std::int64_t>(code_points(self(v))) + 1;
  with.limits.take_search(self(v).size(), what.size());
  return static_cast<std::int64_t>(split_at(self(v), what, std::string::npos).size()) - 1;
}

value without_end(const value& v, const arguments& with, bool left) {
  with.only(1);
  const std::string& what = with.need_text(0);
  std::string_view text = self(v);
  if (left && text.starts_with(what)) text.remove_prefix(what.size());
  if (!left && text.ends_with(what)) text.remove_suffix(what.size());
  return with.text(std::string{text});
}

value parted(const value& v, const arguments& with, bool from_right) {
  with.only(1);
  const std::string& by = with.need_text(0);
  if (by.empty()) complain(fmt::format("{}: the mark is empty", with.of));
  with.limits.take_search(self(v).size(), by.size());
  const std::string_view text = self(v);
  const auto at = from_right ? text.rfind(by) : text.find(by);
  const auto as_tuple = [&](std::string_view a, std::string_view b, std::string_view c) {
    return value::of_list({with.text(std::string{a}), with.text(std::string{b}), with.text(std::string{c})}, true);
  };
  if (at == text.npos) return from_right ? as_tuple("", "", text) : as_tuple(text, "", "");
  return as_tuple(text.substr(0, at), by, text.substr(at + by.size()));
}

bool all_letters(const value& v, bool (*is)(std::string_view)) {
  return !self(v).empty() && std::ranges::all_of(letters_of(self(v)), is);
}

bool is_decimal(std::string_view letter) {
  if (letter.size() > 1) complain("isdigit of letters beyond ASCII is not supported");
  return letter[0] >= '0' && letter[0] <= '9';
}

const method_table& text_methods() {
  using A = const arguments&;
  using V = const value&;
  static const method_table all{
      {"capitalize", [](V v, A a) { return a.text(capitalized(self(v))); }},
      {"count", count_of},
      {"endswith",
       [](V v, A a) { return value{is_one_of(a, [&](const std::string& t) { return self(v).ends_with(t); })}; }},
      {"find", [](V v, A a) { return place_of(v, a, false); }},
      {"isdigit", [](V v, A) { return value{all_letters(v, is_decimal)}; }},
      {"isspace", [](V v, A) { return value{all_letters(v, is_space)}; }},
      {"join",
       [](V v, A a) {
         return find_filter("join")(a.need(0), {a.of, {v}, {}, a.limits});
       }},
      {"lower", [](V v, A a) { return a.text(lowered(self(v))); }},
      {"lstrip", [](V v, A a) { return strip_ends(v, a, {.right = false}); }},
      {"partition", [](V v, A a) { return parted(v, a, false); }},
      {"removeprefix", [](V v, A a) { return without_end(v, a, true); }},
      {"removesuffix", [](V v, A a) { return without_end(v, a, false); }},
      {"replace", [](V v, A a) { return find_filter("replace")(v, a); }},
      {"rfind", [](V v, A a) { return place_of(v, a, true); }},
      {"rpartition", [](V v, A a) { return parted(v, a, true); }},
      {"rsplit", [](V v, A a) { return split_text(v, a, true); }},
      {"rstrip", [](V v, A a) { return strip_ends(v, a, {.left = false}); }},
      {"split", [](V v, A a) { return split_text(v, a, false); }},
      {"splitlines", lines_of},
      {"startswith",
       [](V v, A a) { return value{is_one_of(a, [&](const std::string& t) { return self(v).starts_with(t); })}; }},
      {"strip", [](V v, A a) { return strip_ends(v, a, {}); }},
      {"title", [](V v, A a) { return a.text(titled(self(v))); }},
      {"upper", [](V v, A a) { return a.text(uppered(self(v))); }}};
  return all;
}

value get_entry(const value& v, const arguments& with) {
  with.only(2);
  const value& key = with.need(0);
  const value* const found = key.string() ? find(*v.entries(), *key.string()) : nullptr;
  return found ? *found : with.at(1) ? *with.at(1) : value{none_type{}};
}

value values_of(const value& v, const arguments& with) {
  value_list all;
  for (const auto& [key, each] : *v.entries()) all.push_back(each);
  with.limits.take_bytes(all.size() * sizeof(value));
  return value::of_list(std::move(all));
}

const method_table& map_methods() {
  using A = const arguments&;
  using V = const value&;
  static const method_table all{{"get", get_entry},
                                {"items", [](V v, A a) { return pairs_of(*v.entries(), a.limits); }},
                                {"keys", [](V v, A a) { return value::of_list(items_of(v, a.limits)); }},
                                {"values", values_of}};
  return all;
}

value place_in_list(const value& v, const arguments& with) {
  with.only(1);
  for (std::size_t i = 0; i < v.items()->size(); ++i)
    if (equal((*v.items())[i], with.need(0), with.limits)) return static_cast<std::int64_t>(i);
  complain("index: the list does not have the value");
}

value count_in_list(const value& v, const arguments& with) {
  with.only(1);
  return static_cast<std::int64_t>(
      std::ranges::count_if(*v.items(), [&](const value& each) { return equal(each, with.need(0), with.limits); }));
}

const method_table& list_methods() {
  static const method_table all{{"count", count_in_list}, {"index", place_in_list}};
  return all;
}

value cycle_of(const value& v, const arguments& with) {
  if (with.plain.empty()) complain("loop.cycle has no values");
  return with.plain[(*v.as<value::loop>())->index % with.plain.size()];
}

const method_table& loop_methods() {
  static const method_table all{{"cycle", cycle_of}};
  return all;
}

const method_table* methods_of(const value& v) {
  if (v.string()) return &text_methods();
  if (v.entries()) return &map_methods();
  if (v.items()) return &list_methods();
  return v.as<value::loop>() ? &loop_methods() : nullptr;
}

/// The entries of dict(...) and namespace(...): those of a mapping, and the arguments with names.
value_map given_entries(const arguments& with) {
  if (with.plain.size() > 1 || (with.plain.size() == 1 && !with.plain.front().entries()))
    complain(fmt::format("{} takes a mapping and arguments with names", with.of));
  value_map entries = with.plain.empty() ? value_map{} : *with.plain.front().entries();
  for (const auto& [name, v] : with.named) put(entries, name, v);
  with.limits.take_bytes(entries.size() * 2 * sizeof(value));
  return entries;
}

value make_space(const arguments& with) {
  const value checked = value::of_map(given_entries(with));
  return value::any{std::make_shared<space_box>(space_box{*checked.entries()})};
}

value make_range(const arguments& with) {
  constexpr std::int64_t most = 100000;  // as Jinja's sandbox has it
  with.only(3);
  const bool one = with.plain.size() < 2;
  const std::int64_t from = one ? 0 : with.integer(0, "", 0), to = with.integer(one ? 0 : 1, "", 0),
                     step = with.integer(2, "", 1);
  with.need(0);
  if (step == 0 || std::max(std::abs(from), std::abs(to)) > (std::int64_t{1} << 40) ||
      std::abs(step) > (std::int64_t{1} << 40))
    complain("range: the step is 0, or a number is too large");
  if ((to - from) / step > most) complain("range: more than 100000 numbers");
  value_list all;
  for (std::int64_t i = from; step > 0 ? i < to : i > to; i += step) all.push_back(i);
  with.limits.take_bytes(all.size() * sizeof(value));
  return value::of_list(std::move(all));
}

value raise(const arguments& with) {
  complain(fmt::format("the template refuses the conversation: {}", shown(str(with.need(0), with.limits))));
}

value::function made(std::string name, value (*run)(const arguments&)) {
  return std::make_shared<const function_box>(function_box{std::move(name), run});
}

}  // namespace

method_function find_method(const value& of, std::string_view name) {
  const method_table* const all = methods_of(of);
  const auto found = all ? all->find(name) : method_table::const_iterator{};
  return all && found != all->end() ? found->second : nullptr;
}

value::function find_function(std::string_view name) {
  static const std::map<std::string_view, value::function> all{
      {"dict", made("dict", [](const arguments& a) { return value::of_map(given_entries(a)); })},
      {"namespace", made("namespace", make_space)},
      {"raise_exception", made("raise_exception", raise)},
      {"range", made("range", make_range)}};
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

value date_text(const arguments& with) {
  with.only(1);
  std::tm day{};
  day.tm_year = 2024 - 1900;
  day.tm_mon = 6;
  day.tm_mday = 26;
  day.tm_wday = 5;
  day.tm_yday = 207;
  char text[256];
  return with.text({text, std::strftime(text, sizeof text, with.need_text(0).c_str(), &day)});
}

}  // namespace hydra::jinja
