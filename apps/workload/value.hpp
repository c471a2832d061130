#pragma once
// A workload file as a tree of values. Unlike the parser's own tree it keeps the order of the keys, the spelling of
// numbers and, when copied, the place of every value: grids need all three.

#include "apps/workload/place.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hydra::apps {

struct value;
struct table_entry;
using value_list = std::vector<value>;

/// Keys in the order of the file.
struct value_table {
  std::vector<table_entry> entries;

  const value* find(std::string_view key) const;
  value* find(std::string_view key);
  /// The text of the key; empty if it holds none.
  std::string text(std::string_view key) const;
  /// Adds the key at the end, or replaces its value and keeps its position; its place becomes the value's.
  value& set(std::string_view key, value v);
  void erase(std::string_view key);
};

/// monostate: a date or a time, which no key takes.
using value_content = std::variant<std::monostate, bool, std::int64_t, double, std::string, value_list, value_table>;

struct value {
  place where;
  std::string written;  ///< numbers, booleans and dates as spelled in the file; empty for the others
  value_content content;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&content);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&content);
  }
};

struct table_entry {
  std::string key;
  place where;
  value is;
};

/// Its content; null for no value, and for one of another type.
template <class T>
const T* content_of(const value* v) {
  return v ? v->as<T>() : nullptr;
}
template <class T>
T* content_of(value* v) {
  return v ? v->as<T>() : nullptr;
}

value text_value(std::string text, place where);

/// "a text", "a table": for messages. For scalars the value itself: `the text "ten"`, `3.5`.
std::string describe(const value& v);

/// The value at a dotted path ("optimizer.learning_rate"), or null.
const value* find_path(const value_table& root, std::string_view path);

/// Sets the value at a dotted path; tables on the way are made where they are missing. Refuses a path through
/// something that is not a table.
void set_path(value_table& root, std::string_view path, value v);

/// Gives a value and all that is in it the same place.
void move_to(value& v, const place& where);

/// Where the key is written; `otherwise` (the table's own place) if it is absent.
place place_of(const value_table& table, std::string_view key, const place& otherwise);

}  // namespace hydra::apps
