#include "models/jinja/checks.hpp"

#include "models/jinja/texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace hydra::jinja {

namespace {

struct named_check {
  std::string name;
  check_function run;
};

bool is_integer(const value& v) { return v.as<std::int64_t>() != nullptr; }
bool is_truth(const value& v, bool wanted) { return v.as<bool>() && *v.as<bool>() == wanted; }

std::int64_t integer_of(const value& v, const arguments& with) {
  if (!is_integer(v)) complain(fmt::format("{} of {}, expected an integer", with.of, kind_of(v)));
  return *v.as<std::int64_t>();
}

/// Python's `is`, of what has no parts.
bool is_same(const value& a, const arguments& with) {
  const value& b = with.need(0);
  if (a.as<bool>() || b.as<bool>()) return a.as<bool>() && b.as<bool>() && *a.as<bool>() == *b.as<bool>();
  if (a.as<double>() || b.as<double>() || a.items() || a.entries())
    complain("sameas is supported of texts, integers and constants");
  return equal(a, b, with.limits);
}

bool is_by(const value& a, const arguments& with) {
  const std::int64_t by = with.integer(0, "num", 0);
  if (by == 0 || by == -1) return by != 0 || (complain("divisibleby 0"), false);
  return integer_of(a, with) % by == 0;
}

/// What has a length and items: in Jinja also what is not defined.
bool has_items(const value& v) { return v.string() || v.items() || v.entries() || v.is_undefined(); }

const std::vector<named_check>& all_checks() {
  using A = const arguments&;
  using V = const value&;
  const check_function same = [](V v, A a) { return equal(v, a.need(0), a.limits); };
  const check_function other = [](V v, A a) { return !equal(v, a.need(0), a.limits); };
  const check_function below = [](V v, A a) { return less(v, a.need(0), a.limits); };
  const check_function above = [](V v, A a) { return less(a.need(0), v, a.limits); };
  const check_function most = [](V v, A a) { return !less(a.need(0), v, a.limits); };
  const check_function least = [](V v, A a) { return !less(v, a.need(0), a.limits); };
  static const std::vector<named_check> all{{"!=", other},
                                            {"<", below},
                                            {"<=", most},
                                            {"==", same},
                                            {">", above},
                                            {">=", least},
                                            {"boolean", [](V v, A) { return v.as<bool>() != nullptr; }},
                                            {"callable", [](V v, A) { return v.as<value::function>() != nullptr; }},
                                            {"defined", [](V v, A) { return !v.is_undefined(); }},
                                            {"divisibleby", is_by},
                                            {"eq", same},
                                            {"equalto", same},
                                            {"even", [](V v, A a) { return integer_of(v, a) % 2 == 0; }},
                                            {"false", [](V v, A) { return is_truth(v, false); }},
                                            {"float", [](V v, A) { return v.as<double>() != nullptr; }},
                                            {"ge", least},
                                            {"greaterthan", above},
                                            {"gt", above},
                                            {"in", [](V v, A a) { return contains(a.need(0), v, a.limits); }},
                                            {"integer", [](V v, A) { return is_integer(v); }},
                                            {"iterable", [](V v, A) { return has_items(v); }},
                                            {"le", most},
                                            {"lessthan", below},
                                            {"lt", below},
                                            {"mapping", [](V v, A) { return v.entries() != nullptr; }},
                                            {"ne", other},
                                            {"none", [](V v, A) { return v.is_none(); }},
                                            {"number", [](V v, A) { return is_number(v); }},
                                            {"odd", [](V v, A a) { return integer_of(v, a) % 2 != 0; }},
                                            {"sameas", is_same},
                                            {"sequence", [](V v, A) { return has_items(v); }},
                                            {"string", [](V v, A) { return v.string() != nullptr; }},
                                            {"true", [](V v, A) { return is_truth(v, true); }},
                                            {"undefined", [](V v, A) { return v.is_undefined(); }}};
  return all;
}

}  // namespace

check_function find_check(std::string_view name) {
  const auto found = std::ranges::find(all_checks(), name, &named_check::name);
  return found == all_checks().end() ? nullptr : found->run;
}

std::span<const std::string> check_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list;
    for (const named_check& c : all_checks()) list.push_back(c.name);
    return list;
  }();
  return all;
}

bool contains(const value& all, const value& one, budget& limits) {
  if (all.is_undefined()) return false;
  if (all.string()) {
    if (!one.string()) complain(fmt::format("{} in a text: a text is expected", kind_of(one)));
    limits.take_search(all.string()->size(), one.string()->size());
    return all.string()->find(*one.string()) != std::string::npos;
  }
  if (const auto* entries = all.entries()) {
    limits.take_steps(entries->size());
    return one.string() && find(*entries, *one.string());
  }
  if (!all.items()) complain(fmt::format("in: {} has nothing in it", kind_of(all)));
  return std::ranges::any_of(*all.items(), [&](const value& v) {
    limits.take_steps();
    return equal(v, one, limits);
  });
}

}  // namespace hydra::jinja
