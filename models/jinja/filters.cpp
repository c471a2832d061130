#include "models/jinja/filters.hpp"

#include "models/jinja/checks.hpp"
#include "models/jinja/texts.hpp"
#include "runtime/base/digits.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace hydra::jinja {

namespace {

struct named_filter {
  std::string name;
  filter_function run;
};

/// Filters of texts write other values as texts first.
std::string text_of(const value& v, const arguments& with) { return str(v, with.limits); }

value trim(const value& v, const arguments& with) {
  with.only(1, {"chars"});
  const std::string text = text_of(v, with);
  const value* const letters = with.at(0, "chars");
  const bool named = letters && letters->string();
  return with.text(std::string{named ? stripped(text, *letters->string(), {}) : stripped(text)});
}

value to_json(const value& v, const arguments& with) {
  with.only(4, {"ensure_ascii", "indent", "separators", "sort_keys"});
  json_form form{.ascii = with.flag(0, "ensure_ascii"), .sorted = with.flag(3, "sort_keys")};
  if (const value* const indent = with.at(1, "indent"); indent && !indent->is_none()) {
    form.indent = static_cast<std::size_t>(std::max<std::int64_t>(0, with.integer(1, "indent", 0)));
    form.lines = true;
    form.comma = ",";
  }
  if (const value* const marks = with.at(2, "separators"); marks && !marks->is_none()) {
    if (!marks->items() || marks->items()->size() != 2) complain("tojson: separators are two texts");
    form.comma = text_of(marks->items()->front(), with);
    form.colon = text_of(marks->items()->back(), with);
  }
  return with.text(json(v, form, with.limits));
}

value length(const value& v, const arguments& with) {
  if (v.is_undefined()) return std::int64_t{0};
  if (const auto* t = v.string()) {
    with.limits.take_bytes(t->size());
    return static_cast<std::int64_t>(code_points(*t));
  }
  if (const auto* l = v.items()) return static_cast<std::int64_t>(l->size());
  if (const auto* m = v.entries()) return static_cast<std::int64_t>(m->size());
  complain(fmt::format("{} has no length", kind_of(v)));
}

/// "a.b.0" of a value.
value path_of(const value& v, const std::string& path, const arguments& with) {
  value found = v;
  for (const std::string_view part : split_at(path, ".", path.size())) {
    std::int64_t index = 0;
    const bool is_index = is_digits(part) &&
                          std::from_chars(part.data(), part.data() + part.size(), index).ec == std::errc{};
    found = item_of(found, is_index ? value{index} : value{std::string{part}}, with.limits);
  }
  return found;
}

value join(const value& v, const arguments& with) {
  with.only(2, {"d", "attribute"});
  const std::string between = with.at(0, "d") ? text_of(*with.at(0, "d"), with) : "";
  const value* const attribute = with.at(1, "attribute");
  std::string all;
  bool first = true;
  for (const value& each : items_of(v, with.limits)) {
    if (!std::exchange(first, false)) all += between;
    all += text_of(attribute && attribute->string() ? path_of(each, *attribute->string(), with) : each, with);
    with.limits.take_bytes(between.size());
  }
  return with.text(std::move(all));
}

value first_of(const value& v, const arguments& with) {
  const value_list all = items_of(v, with.limits);
  return all.empty() ? value::nothing("first") : all.front();
}

value last_of(const value& v, const arguments& with) {
  const value_list all = items_of(v, with.limits);
  return all.empty() ? value::nothing("last") : all.back();
}

value or_default(const value& v, const arguments& with) {
  with.only(2, {"default_value", "boolean"});
  const bool replaced = v.is_undefined() || (with.flag(1, "boolean") && !truth(v));
  return !replaced ? v : with.at(0, "default_value") ? *with.at(0, "default_value") : value{""};
}

/// The arguments behind the first `skipped`, for a filter or a test that another one is given.
arguments rest_of(const arguments& with, std::string_view of, std::size_t skipped) {
  return {of,
          {with.plain.begin() + static_cast<std::ptrdiff_t>(std::min(skipped, with.plain.size())), with.plain.end()},
          with.named,
          with.limits};
}

value map_all(const value& v, const arguments& with) {
  value_list all;
  const value* const attribute = with.plain.empty() ? find(with.named, "attribute") : nullptr;
  const value* const otherwise = find(with.named, "default");
  const std::string name = attribute ? text_of(*attribute, with) : with.need_text(0);
  const filter_function by = attribute ? nullptr : find_filter(name);
  if (!attribute && !by) complain(fmt::format("map: there is no filter \"{}\" here", shown(name)));
  const arguments rest = rest_of(with, name, 1);
  for (const value& each : items_of(v, with.limits)) {
    with.limits.take_steps();
    value made = by ? by(each, rest) : path_of(each, name, with);
    all.push_back(attribute && otherwise && made.is_undefined() ? *otherwise : std::move(made));
  }
  return value::of_list(std::move(all));
}

/// Those items of which a test says `wanted`: of themselves, or of an attribute of theirs.
value chosen(const value& v, const arguments& with, bool by_attribute, bool wanted) {
  const std::size_t skipped = by_attribute ? 1 : 0;
  const std::string name = with.at(skipped) ? with.need_text(skipped) : "";
  const check_function by = name.empty() ? nullptr : find_check(name);
  if (!name.empty() && !by) complain(fmt::format("{}: there is no test \"{}\" here", with.of, shown(name)));
  const arguments rest = rest_of(with, name, skipped + 1);
  value_list all;
  for (const value& each : items_of(v, with.limits)) {
    with.limits.take_steps();
    const value asked = by_attribute ? path_of(each, with.need_text(0), with) : each;
    if ((by ? by(asked, rest) : truth(asked)) == wanted) all.push_back(each);
  }
  return value::of_list(std::move(all));
}

value replace(const value& v, const arguments& with) {
  with.only(3, {"old", "new", "count"});
  const std::string text = text_of(v, with), from = text_of(with.need(0, "old"), with),
                    to = text_of(with.need(1, "new"), with);
  const std::int64_t most = with.integer(2, "count", -1);
  with.limits.take_search(text.size(), from.size());
  with.limits.take_bytes(from.empty() ? 0 : text.size() / from.size() * to.size());
  return with.text(replaced(text, from, to, most < 0 ? std::string::npos : static_cast<std::size_t>(most)));
}

std::optional<std::int64_t> read_integer(std::string_view text) {
  text = stripped(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{n} : std::nullopt;
}

std::optional<double> read_real(const std::string& text) {
  const std::string plain{stripped(text)};
  if (plain.empty() || plain.find_first_not_of("0123456789+-.eE") != plain.npos) return std::nullopt;
  char* end = nullptr;
  const double d = std::strtod(plain.c_str(), &end);
  return *end == 0 ? std::optional{d} : std::nullopt;
}

std::int64_t whole(double d) {
  if (!(std::abs(d) < 9e18)) complain("int: the number is too large");
  return static_cast<std::int64_t>(d);
}

value to_integer(const value& v, const arguments& with) {
  with.only(1, {"default"});
  const value usual = with.at(0, "default") ? *with.at(0, "default") : value{std::int64_t{0}};
  if (const auto* n = v.as<std::int64_t>()) return *n;
  if (is_number(v)) return whole(as_real(v));
  if (!v.string()) return usual;
  if (const auto n = read_integer(*v.string())) return *n;
  const auto d = read_real(*v.string());
  return d ? value{whole(*d)} : usual;
}

value to_real(const value& v, const arguments& with) {
  with.only(1, {"default"});
  if (is_number(v)) return as_real(v);
  if (const auto d = v.string() ? read_real(*v.string()) : std::nullopt) return *d;
  return with.at(0, "default") ? *with.at(0, "default") : value{0.0};
}

const value_map& entries_of(const value& v, const arguments& with) {
  static const value_map none{};
  if (v.is_undefined()) return none;
  if (!v.entries()) complain(fmt::format("{} of {}, expected a mapping", with.of, kind_of(v)));
  return *v.entries();
}

/// Of two values that are sorted without regard to case.
bool comes_before(const value& a, const value& b, bool by_case, budget& limits) {
  if (by_case || !a.string() || !b.string()) return less(a, b, limits);
  limits.take_bytes(a.string()->size() + b.string()->size());
  return lowered(*a.string()) < lowered(*b.string());
}

value sorted_entries(const value& v, const arguments& with) {
  with.only(3, {"case_sensitive", "by", "reverse"});
  const bool by_case = with.flag(0, "case_sensitive"),
             by_value = with.at(1, "by") && with.need_text(1, "by") == "value";
  value_map entries = entries_of(v, with);
  std::ranges::stable_sort(entries, [&](const auto& a, const auto& b) {
    return by_value ? comes_before(a.second, b.second, by_case, with.limits)
                    : comes_before(a.first, b.first, by_case, with.limits);
  });
  if (with.flag(2, "reverse")) std::ranges::reverse(entries);
  return pairs_of(entries, with.limits);
}

value sorted_items(const value& v, const arguments& with) {
  with.only(3, {"reverse", "case_sensitive", "attribute"});
  const bool turned = with.flag(0, "reverse"), by_case = with.flag(1, "case_sensitive");
  const value* const attribute = with.at(2, "attribute");
  const auto key = [&](const value& each) { return attribute ? path_of(each, text_of(*attribute, with), with) : each; };
  value_list all = items_of(v, with.limits);
  std::ranges::stable_sort(all, [&](const value& a, const value& b) {
    return turned ? comes_before(key(b), key(a), by_case, with.limits)
                  : comes_before(key(a), key(b), by_case, with.limits);
  });
  return value::of_list(std::move(all));
}

value unique_items(const value& v, const arguments& with) {
  with.only(0);
  value_list all;
  for (value& each : items_of(v, with.limits))
    if (std::ranges::none_of(all, [&](const value& other) {
          with.limits.take_steps();
          return !comes_before(each, other, false, with.limits) && !comes_before(other, each, false, with.limits);
        }))
      all.push_back(std::move(each));
  return value::of_list(std::move(all));
}

value turned(const value& v, const arguments& with) {
  value_list all = items_of(v, with.limits);
  std::ranges::reverse(all);
  if (!v.string()) return value::of_list(std::move(all));
  std::string text;
  for (const value& letter : all) text += *letter.string();
  return with.text(std::move(text));
}

value nearest_end(const value& v, const arguments& with, bool greatest) {
  const value_list all = items_of(v, with.limits);
  if (all.empty()) return value::nothing(std::string{with.of});
  return *std::ranges::max_element(all, [&](const value& a, const value& b) {
    return greatest ? comes_before(a, b, false, with.limits) : comes_before(b, a, false, with.limits);
  });
}

value indented(const value& v, const arguments& with) {
  with.only(3, {"width", "first", "blank"});
  const std::string text = text_of(v, with);
  const value* const width = with.at(0, "width");
  const std::string by =
      width && width->string()
          ? *width->string()
          : std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(with.integer(0, "width", 4), 0, 100)), ' ');
  const bool blank = with.flag(2, "blank");
  std::string all = with.flag(1, "first") ? by : "";
  bool first = true;
  for (const std::string_view line : split_at(text, "\n", text.size())) {
    if (!std::exchange(first, false)) {
      all += '\n';
      if (blank || !line.empty()) all += by;
    }
    all += line;
    with.limits.take_bytes(by.size());
  }
  return with.text(std::move(all));
}

value absolute(const value& v, const arguments&) {
  if (const auto* n = v.as<std::int64_t>(); n && *n != std::numeric_limits<std::int64_t>::min())
    return *n < 0 ? -*n : *n;
  if (!v.as<double>()) complain(fmt::format("abs of {}", kind_of(v)));
  return std::abs(*v.as<double>());
}

const std::vector<named_filter>& all_filters() {
  using A = const arguments&;
  using V = const value&;
  const filter_function unchanged = [](V v, A) { return v; };
  const filter_function usual = or_default;
  static const std::vector<named_filter> all{
      {"abs", absolute},
      {"capitalize", [](V v, A a) { return a.text(capitalized(text_of(v, a))); }},
      {"count", length},
      {"d", usual},
      {"default", usual},
      {"dictsort", sorted_entries},
      {"first", first_of},
      {"float", to_real},
      {"indent", indented},
      {"int", to_integer},
      {"items", [](V v, A a) { return pairs_of(entries_of(v, a), a.limits); }},
      {"join", join},
      {"last", last_of},
      {"length", length},
      {"list", [](V v, A a) { return value::of_list(items_of(v, a.limits)); }},
      {"lower", [](V v, A a) { return a.text(lowered(text_of(v, a))); }},
      {"map", map_all},
      {"max", [](V v, A a) { return nearest_end(v, a, true); }},
      {"min", [](V v, A a) { return nearest_end(v, a, false); }},
      {"reject", [](V v, A a) { return chosen(v, a, false, false); }},
      {"rejectattr", [](V v, A a) { return chosen(v, a, true, false); }},
      {"replace", replace},
      {"reverse", turned},
      {"safe", unchanged},
      {"select", [](V v, A a) { return chosen(v, a, false, true); }},
      {"selectattr", [](V v, A a) { return chosen(v, a, true, true); }},
      {"sort", sorted_items},
      {"string", [](V v, A a) { return a.text(text_of(v, a)); }},
      {"title", [](V v, A a) { return a.text(titled_by_jinja(text_of(v, a))); }},
      {"tojson", to_json},
      {"trim", trim},
      {"unique", unique_items},
      {"upper", [](V v, A a) { return a.text(uppered(text_of(v, a))); }}};
  return all;
}

}  // namespace

filter_function find_filter(std::string_view name) {
  const auto found = std::ranges::find(all_filters(), name, &named_filter::name);
  return found == all_filters().end() ? nullptr : found->run;
}

std::span<const std::string> filter_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list;
    for (const named_filter& f : all_filters()) list.push_back(f.name);
    return list;
  }();
  return all;
}

}  // namespace hydra::jinja
