#include "runtime/base/digits.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

TEST_CASE("digits alone are a number, of any length, and nothing is none") {
  CHECK(is_digits("0"));
  CHECK(is_digits("000123456789012345678901234567890"));
  for (const char* other : {"", "-1", "+1", "1.5", " 1", "1 ", "a1", "1a", "\xD9\xA1"}) CHECK_FALSE(is_digits(other));
}
