#include "models/exported/size_expression.hpp"

#include "runtime/base/refuse.hpp"

#include <algorithm>
#include <limits>

namespace hydra {

namespace {

using kind = size_expression::kind;

[[noreturn]] void refuse_large() { refuse("a size does not fit into 64 bits"); }

/// Rounded down.
std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) refuse("a size is divided by zero");
  if (a == std::numeric_limits<std::int64_t>::min() && b == -1) refuse_large();
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::int64_t applied(kind what, std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  switch (what) {
    case kind::add:
      if (__builtin_add_overflow(a, b, &r)) refuse_large();
      return r;
    case kind::multiply:
      if (__builtin_mul_overflow(a, b, &r)) refuse_large();
      return r;
    case kind::divide:
      return quotient(a, b);
    case kind::remainder:
      return a - quotient(a, b) * b;
    case kind::largest:
      return std::max(a, b);
    default:
      return std::min(a, b);
  }
}

}  // namespace

std::int64_t evaluate(const size_expression& size, std::int64_t samples, const size_of_value& values) {
  switch (size.what) {
    case kind::number:
      return size.number;
    case kind::samples:
      return samples;
    case kind::of_value:
      if (!values) refuse("the size of \"" + size.value + "\" depends on data");
      return values(size.value, size.number);
    default:
      return applied(size.what, evaluate(size.operands.at(0), samples, values),
                     evaluate(size.operands.at(1), samples, values));
  }
}

std::vector<std::int64_t> evaluate(const std::vector<size_expression>& sizes, std::int64_t samples) {
  std::vector<std::int64_t> all;
  all.reserve(sizes.size());
  for (const size_expression& size : sizes) all.push_back(evaluate(size, samples));
  return all;
}

std::optional<std::vector<std::int64_t>> sizes_of_sample(const std::vector<size_expression>& sizes) {
  const std::vector<std::int64_t> one = evaluate(sizes, 1), two = evaluate(sizes, 2);
  const bool batched = !one.empty() && one.front() == 1 && two.front() == 2;
  if (!batched || !std::equal(one.begin() + 1, one.end(), two.begin() + 1)) return std::nullopt;
  return std::vector<std::int64_t>{one.begin() + 1, one.end()};
}

bool depends_on_data(const size_expression& size) {
  return size.what == kind::of_value || std::ranges::any_of(size.operands, depends_on_data);
}

}  // namespace hydra
