#include "models/jinja/numbers.hpp"

#include "models/jinja/complaint.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace hydra::jinja {

namespace {

std::optional<std::int64_t> integer_in(const value& v) {
  if (const auto* b = v.as<bool>()) return *b ? 1 : 0;
  const auto* n = v.as<std::int64_t>();
  return n ? std::optional{*n} : std::nullopt;
}

std::string_view sign_of(operation does) {
  switch (does) {
    case operation::sum:
      return "+";
    case operation::difference:
      return "-";
    case operation::product:
      return "*";
    case operation::quotient:
      return "/";
    case operation::whole_quotient:
      return "//";
    case operation::remainder:
      return "%";
    default:
      return "**";
  }
}

[[noreturn]] void complain_of(operation does, const value& a, const value& b) {
  complain(fmt::format("{} {} {} is not supported", kind_of(a), sign_of(does), kind_of(b)));
}

std::int64_t power(std::int64_t base, std::int64_t exponent, bool& too_large) {
  std::int64_t result = 1;
  for (; exponent > 0 && !too_large && base != 1 && result != 0; --exponent)
    too_large = __builtin_mul_overflow(result, base, &result);
  return result;
}

/// Rounded down, as in Python.
std::int64_t whole_quotient(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

value of_integers(operation does, std::int64_t a, std::int64_t b) {
  const bool divides = does == operation::quotient || does == operation::whole_quotient || does == operation::remainder;
  if (divides && b == 0) complain("a number is divided by zero");
  if (does == operation::quotient) return static_cast<double>(a) / static_cast<double>(b);
  std::int64_t made = 0;
  bool too_large = false;
  if (does == operation::sum) too_large = __builtin_add_overflow(a, b, &made);
  if (does == operation::difference) too_large = __builtin_sub_overflow(a, b, &made);
  if (does == operation::product) too_large = __builtin_mul_overflow(a, b, &made);
  if (divides && b == -1) too_large = __builtin_sub_overflow(0, a, &made);
  if (divides && b != -1) made = whole_quotient(a, b);
  if (does == operation::remainder) made = b == -1 ? 0 : a - made * b;
  if (does == operation::power) {
    if (b < 0 || b > 64) complain("** of integers is supported for exponents from 0 to 64");
    made = power(a, b, too_large);
  }
  if (too_large) complain("an integer does not fit into 64 bits");
  return made;
}

value of_reals(operation does, double a, double b) {
  if (b == 0 && (does == operation::quotient || does == operation::whole_quotient || does == operation::remainder))
    complain("a number is divided by zero");
  switch (does) {
    case operation::sum:
      return a + b;
    case operation::difference:
      return a - b;
    case operation::product:
      return a * b;
    case operation::quotient:
      return a / b;
    case operation::whole_quotient:
      return std::floor(a / b);
    case operation::remainder:
      return a - b * std::floor(a / b);
    default:
      return std::pow(a, b);
  }
}

value joined(const value_list& a, const value_list& b, bool tuple, budget& limits) {
  limits.take_bytes((a.size() + b.size()) * sizeof(value));
  value_list all = a;
  all.insert(all.end(), b.begin(), b.end());
  return value::of_list(std::move(all), tuple);
}

value multiple(const std::string& text, std::int64_t count, budget& limits) {
  const auto times = static_cast<std::uint64_t>(count > 0 ? count : 0);
  if (times > most_bytes) complain("a text is repeated too often");
  limits.take_bytes(times * text.size());
  std::string all;
  for (std::uint64_t i = 0; i < times && !text.empty(); ++i) all += text;
  return {std::move(all)};
}

}  // namespace

value computed(operation does, const value& a, const value& b, budget& limits) {
  const auto x = integer_in(a), y = integer_in(b);
  if (x && y) return of_integers(does, *x, *y);
  if (is_number(a) && is_number(b)) return of_reals(does, as_real(a), as_real(b));
  if (does == operation::product && a.string() && y) return multiple(*a.string(), *y, limits);
  if (does == operation::product && x && b.string()) return multiple(*b.string(), *x, limits);
  if (does != operation::sum) complain_of(does, a, b);
  if (a.string() && b.string()) {
    limits.take_bytes(a.string()->size() + b.string()->size());
    return *a.string() + *b.string();
  }
  const auto *l = a.as<value::list>(), *r = b.as<value::list>();
  if (!l || !r || (*l)->tuple != (*r)->tuple) complain_of(does, a, b);
  return joined((*l)->items, (*r)->items, (*l)->tuple, limits);
}

value negated(const value& v) {
  if (v.as<double>()) return -*v.as<double>();
  const auto n = integer_in(v);
  if (!n) complain(fmt::format("- of {} is not supported", kind_of(v)));
  return of_integers(operation::difference, 0, *n);
}

}  // namespace hydra::jinja
