#pragma once
// What an expression of a template gives: Python's values, as far as templates have them.

#include "models/jinja/budget.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hydra::jinja {

class value;
struct arguments;

struct undefined {
  std::string name{};  ///< what was asked for
};
struct none_type {
  friend bool operator==(none_type, none_type) = default;
};

using value_list = std::vector<value>;
/// In the order of insertion, as Python's; keys are texts.
using value_map = std::vector<std::pair<std::string, value>>;

struct list_box;
struct map_box;
struct space_box;
struct loop_box;
struct function_box;

/// Lists and mappings do not change; only a namespace() does.
class value {
 public:
  using text = std::shared_ptr<const std::string>;
  using list = std::shared_ptr<const list_box>;
  using map = std::shared_ptr<const map_box>;
  using space = std::shared_ptr<space_box>;
  using loop = std::shared_ptr<loop_box>;
  using function = std::shared_ptr<const function_box>;
  using any = std::variant<undefined, none_type, bool, std::int64_t, double, text, list, map, space, loop, function>;

  value() = default;
  value(none_type n) : is_(n) {}
  value(bool b) : is_(b) {}
  value(std::int64_t n) : is_(n) {}
  value(double d) : is_(d) {}
  value(std::string t) : is_(std::make_shared<const std::string>(std::move(t))) {}
  value(const char* t) : value(std::string{t}) {}
  value(any a) : is_(std::move(a)) {}

  static value nothing(std::string name) { return {any{undefined{std::move(name)}}}; }
  /// Throw complaint for what is too deep, and for a namespace, a loop or a function among the values.
  static value of_list(value_list items, bool tuple = false);
  static value of_map(value_map entries);

  template <class T>
  const T* as() const {
    return std::get_if<T>(&is_);
  }
  bool is_undefined() const { return as<undefined>() != nullptr; }
  bool is_none() const { return as<none_type>() != nullptr; }
  const std::string* string() const;  ///< null if it is not a text
  const value_list* items() const;    ///< null if it is not a list or a tuple
  const value_map* entries() const;   ///< null if it is not a mapping

 private:
  any is_{};
};

struct list_box {
  value_list items;
  bool tuple = false;
  int depth = 1;
  std::uint64_t weight = 0;  ///< bytes of what is in it, counted as often as it is in it
};
struct map_box {
  value_map entries;
  int depth = 1;
  std::uint64_t weight = 0;
};
struct space_box {
  value_map entries;
};
struct loop_box {
  value_list items;
  std::size_t index = 0;
  std::int64_t depth = 1;
};
struct function_box {
  std::string name;
  std::function<value(const arguments&)> run;
};

const value* find(const value_map& entries, std::string_view key);  ///< null if it is not there
void put(value_map& entries, std::string key, value v);             ///< replaces one of that key

/// "a text", "a list", "undefined ('tools')".
std::string kind_of(const value& v);

bool truth(const value& v);
bool is_number(const value& v);  ///< true and false are numbers, as in Python
double as_real(const value& number);

// What follows goes through all that is in a value, which a template may have put there many times.

bool equal(const value& a, const value& b, budget& limits);
/// Throws complaint for kinds that have no order.
bool less(const value& a, const value& b, budget& limits);

/// Python's str(): nothing for what is undefined. Throws complaint for a function and the like.
std::string str(const value& v, budget& limits);

struct json_form {
  bool ascii = false, sorted = false;
  std::size_t indent = 0;  ///< spaces of each level
  bool lines = false;      ///< a line for each value
  std::string comma = ", ", colon = ": ";
};
/// Python's json.dumps(). Throws complaint for what JSON does not have.
std::string json(const value& v, const json_form& form, budget& limits);

}  // namespace hydra::jinja
