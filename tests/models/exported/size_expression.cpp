#include "models/exported/size_expression.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace hydra;

namespace size_expression_test {

using kind = size_expression::kind;

size_expression number(std::int64_t n) { return {.number = n}; }
const size_expression samples{.what = kind::samples};

std::int64_t of(kind what, const size_expression& a, const size_expression& b, std::int64_t n = 7) {
  return evaluate({.what = what, .operands = {a, b}}, n);
}

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST_CASE("a size is computed for the number of samples", "[exported]") {
  CHECK(of(kind::add, samples, number(2)) == 9);
  CHECK(of(kind::multiply, samples, number(3)) == 21);
  CHECK(of(kind::largest, samples, number(9)) == 9);
  CHECK(of(kind::smallest, samples, number(9)) == 7);
  CHECK(evaluate({.what = kind::of_value, .number = 1, .value = "x"}, 7,
                 [](const std::string& value, std::int64_t d) { return value == "x" ? d + 10 : 0; }) == 11);
}

TEST_CASE("a division of sizes rounds down, and its remainder has the sign of the divisor", "[exported]") {
  for (const auto& [a, b, quotient] :
       {std::array<std::int64_t, 3>{7, 2, 3}, {-7, 2, -4}, {7, -2, -4}, {-7, -2, 3}, {6, 3, 2}}) {
    CHECK(of(kind::divide, number(a), number(b)) == quotient);
    CHECK(of(kind::remainder, number(a), number(b)) == a - quotient * b);
  }
}

TEST_CASE("sizes that fit into no integer, and divisions by zero, are refused", "[exported]") {
  CHECK_THROWS_AS(of(kind::add, number(most), number(1)), fault_error);
  CHECK_THROWS_AS(of(kind::multiply, number(most), samples), fault_error);
  CHECK_THROWS_AS(of(kind::divide, samples, number(0)), fault_error);
  CHECK_THROWS_AS(of(kind::divide, number(-most - 1), number(-1)), fault_error);
  CHECK_THROWS_AS(evaluate({.what = kind::of_value, .value = "x"}, 1), fault_error);
}

}  // namespace size_expression_test
