#include "models/jinja/value.hpp"

#include "models/jinja/complaint.hpp"
#include "models/jinja/texts.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace hydra::jinja {

namespace {

/// Of a value within another one. What can change, or refers to what is being run, would outlive it or hold itself.
int depth_of(const value& v) {
  if (v.as<value::space>() || v.as<value::loop>() || v.as<value::function>())
    complain(fmt::format("{} is put into another value, which Hydra does not support", kind_of(v)));
  if (const auto* list = v.as<value::list>()) return (*list)->depth;
  if (const auto* map = v.as<value::map>()) return (*map)->depth;
  return 0;
}

int checked(int depth) {
  if (depth > deepest_value) complain("lists and mappings are more than 60 levels deep within each other");
  return depth;
}

std::uint64_t weight_of(const value& v) {
  if (const auto* t = v.string()) return 8 + t->size();
  if (const auto* list = v.as<value::list>()) return 8 + (*list)->weight;
  if (const auto* map = v.as<value::map>()) return 8 + (*map)->weight;
  return 8;
}

/// Without overflow, however often a value holds the same one.
std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return std::min(a + b, std::uint64_t{1} << 50); }

bool same(const value& a, const value& b);

bool equal_entries(const value_map& a, const value_map& b) {
  return a.size() == b.size() && std::ranges::all_of(a, [&](const auto& entry) {
           const value* const other = find(b, entry.first);
           return other && same(entry.second, *other);
         });
}

bool same(const value& a, const value& b) {
  if (a.as<std::int64_t>() && b.as<std::int64_t>()) return *a.as<std::int64_t>() == *b.as<std::int64_t>();
  if (is_number(a) && is_number(b)) return as_real(a) == as_real(b);
  if (a.string() && b.string()) return *a.string() == *b.string();
  if (const auto* l = a.as<value::list>(), *r = b.as<value::list>(); l && r)
    return *l == *r || ((*l)->tuple == (*r)->tuple && std::ranges::equal((*l)->items, (*r)->items, same));
  if (a.entries() && b.entries()) return equal_entries(*a.entries(), *b.entries());
  if (a.as<value::space>() && b.as<value::space>()) return *a.as<value::space>() == *b.as<value::space>();
  return (a.is_undefined() && b.is_undefined()) || (a.is_none() && b.is_none());
}

bool before(const value& a, const value& b) {
  if (a.as<std::int64_t>() && b.as<std::int64_t>()) return *a.as<std::int64_t>() < *b.as<std::int64_t>();
  if (is_number(a) && is_number(b)) return as_real(a) < as_real(b);
  if (a.string() && b.string()) return *a.string() < *b.string();
  if (a.items() && b.items()) return std::ranges::lexicographical_compare(*a.items(), *b.items(), before);
  complain(fmt::format("{} and {} have no order", kind_of(a), kind_of(b)));
}

std::string python_number(double d) {
  std::string text = fmt::format("{}", d);
  return text.find_first_not_of("-0123456789") == text.npos ? text + ".0" : text;
}

std::string quoted_by(std::string_view text) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string all{quote};
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view c = first_letter(rest);
    rest.remove_prefix(c.size());
    if (c == "\n")
      all += "\\n";
    else if (c == "\r")
      all += "\\r";
    else if (c == "\t")
      all += "\\t";
    else if (c == "\\" || (c.size() == 1 && c[0] == quote))
      (all += '\\') += c;
    else
      all += is_plain(c) ? std::string{c} : escaped_letter(c);
  }
  return all + quote;
}

std::string written(const value& v);

/// Python's repr().
std::string repr(const value& v) {
  if (const auto* t = v.string()) return quoted_by(*t);
  if (v.is_undefined()) return "Undefined";
  return written(v);
}

std::string str_of(const list_box& list) {
  std::string all{list.tuple ? "(" : "["};
  for (std::size_t i = 0; i < list.items.size(); ++i) all += (i == 0 ? "" : ", ") + repr(list.items[i]);
  if (list.tuple && list.items.size() == 1) all += ",";
  return all + (list.tuple ? ")" : "]");
}

std::string str_of(const value_map& entries) {
  std::string all{"{"};
  for (const auto& [key, v] : entries) all += (all.size() == 1 ? "" : ", ") + quoted_by(key) + ": " + repr(v);
  return all + "}";
}

std::string written(const value& v) {
  if (const auto* t = v.string()) return *t;
  if (v.is_undefined()) return {};
  if (v.is_none()) return "None";
  if (const auto* b = v.as<bool>()) return *b ? "True" : "False";
  if (const auto* n = v.as<std::int64_t>()) return fmt::format("{}", *n);
  if (const auto* d = v.as<double>()) return python_number(*d);
  if (const auto* l = v.as<value::list>()) return str_of(**l);
  if (const auto* m = v.entries()) return str_of(*m);
  complain(fmt::format("{} has no text", kind_of(v)));
}

class json_writer {
 public:
  explicit json_writer(const json_form& form) : form_(form) {}

  std::string of(const value& v) {
    write(v);
    return std::move(text_);
  }

 private:
  void write(const value& v) {
    if (const auto* t = v.string()) return write_text(*t);
    if (const auto* list = v.items()) return write_list(*list);
    if (const auto* map = v.entries()) return write_map(*map);
    if (const auto* b = v.as<bool>())
      text_ += *b ? "true" : "false";
    else if (v.is_none())
      text_ += "null";
    else if (const auto* d = v.as<double>())
      text_ += real(*d);
    else if (v.as<std::int64_t>())
      text_ += fmt::format("{}", *v.as<std::int64_t>());
    else
      complain(fmt::format("tojson: {} cannot be written as JSON", kind_of(v)));
  }

  static std::string real(double d) {
    return std::isnan(d) ? "NaN" : std::isinf(d) ? d < 0 ? "-Infinity" : "Infinity" : python_number(d);
  }

  void write_text(std::string_view text) { text_ += json_quoted(text, form_.ascii); }

  void new_line() {
    if (form_.lines) (text_ += '\n').append(level_ * form_.indent, ' ');
  }

  template <class All, class One>
  void write_all(const All& all, std::string_view brackets, One&& one) {
    text_ += brackets[0];
    ++level_;
    bool first = true;
    for (const auto& each : all) {
      if (!std::exchange(first, false)) text_ += form_.comma;
      new_line();
      one(each);
    }
    --level_;
    if (!all.empty()) new_line();
    text_ += brackets[1];
  }

  void write_list(const value_list& list) {
    write_all(list, "[]", [&](const value& v) { write(v); });
  }

  void write_map(value_map map) {
    if (form_.sorted) std::ranges::stable_sort(map, {}, &value_map::value_type::first);
    write_all(map, "{}", [&](const auto& entry) {
      write_text(entry.first);
      text_ += form_.colon;
      write(entry.second);
    });
  }

  const json_form& form_;
  std::string text_;
  std::size_t level_ = 0;
};

}  // namespace

value value::of_list(value_list items, bool tuple) {
  list_box box{.items = {}, .tuple = tuple};
  for (const value& v : items) {
    box.depth = checked(std::max(box.depth, depth_of(v) + 1));
    box.weight = sum(box.weight, weight_of(v));
  }
  box.items = std::move(items);
  return {any{std::make_shared<const list_box>(std::move(box))}};
}

value value::of_map(value_map entries) {
  map_box box;
  for (const auto& [key, v] : entries) {
    box.depth = checked(std::max(box.depth, depth_of(v) + 1));
    box.weight = sum(box.weight, key.size() + weight_of(v));
  }
  box.entries = std::move(entries);
  return {any{std::make_shared<const map_box>(std::move(box))}};
}

const std::string* value::string() const {
  const auto* t = as<text>();
  return t ? t->get() : nullptr;
}
const value_list* value::items() const {
  const auto* l = as<list>();
  return l ? &(*l)->items : nullptr;
}
const value_map* value::entries() const {
  const auto* m = as<map>();
  return m ? &(*m)->entries : nullptr;
}

const value* find(const value_map& entries, std::string_view key) {
  const auto found = std::ranges::find(entries, key, &value_map::value_type::first);
  return found == entries.end() ? nullptr : &found->second;
}

void put(value_map& entries, std::string key, value v) {
  const auto found = std::ranges::find(entries, key, &value_map::value_type::first);
  if (found == entries.end())
    entries.emplace_back(std::move(key), std::move(v));
  else
    found->second = std::move(v);
}

std::string kind_of(const value& v) {
  if (const auto* u = v.as<undefined>()) return fmt::format("what is not defined (\"{}\")", shown(u->name));
  if (v.is_none()) return "none";
  if (v.as<bool>()) return "true or false";
  if (is_number(v)) return "a number";
  if (v.string()) return "a text";
  if (v.items()) return "a list";
  if (v.entries()) return "a mapping";
  if (v.as<value::space>()) return "a namespace";
  return v.as<value::loop>() ? "a loop" : "a function";
}

bool truth(const value& v) {
  if (const auto* b = v.as<bool>()) return *b;
  if (is_number(v)) return as_real(v) != 0;
  if (const auto* t = v.string()) return !t->empty();
  if (const auto* l = v.items()) return !l->empty();
  if (const auto* m = v.entries()) return !m->empty();
  return !v.is_undefined() && !v.is_none();
}

bool is_number(const value& v) { return v.as<bool>() || v.as<std::int64_t>() || v.as<double>(); }

double as_real(const value& number) {
  if (const auto* b = number.as<bool>()) return *b ? 1 : 0;
  if (const auto* n = number.as<std::int64_t>()) return static_cast<double>(*n);
  return number.as<double>() ? *number.as<double>() : 0;
}

bool equal(const value& a, const value& b, budget& limits) {
  limits.take_bytes(std::min(weight_of(a), weight_of(b)));
  return same(a, b);
}

bool less(const value& a, const value& b, budget& limits) {
  limits.take_bytes(std::min(weight_of(a), weight_of(b)));
  return before(a, b);
}

std::string str(const value& v, budget& limits) {
  limits.take_bytes(weight_of(v));
  return written(v);
}

std::string json(const value& v, const json_form& form, budget& limits) {
  if (form.indent > 16) complain(fmt::format("tojson: indent = {}, at most 16 is supported", form.indent));
  limits.take_bytes(weight_of(v) * (1 + form.indent));
  return json_writer{form}.of(v);
}

}  // namespace hydra::jinja
