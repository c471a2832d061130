#include "models/families/integer_list.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using Catch::Matchers::Contains;

TEST_CASE("a list of integers is read from a text") {
  CHECK(integer_list("x", "3") == std::vector<std::int64_t>{3});
  CHECK(integer_list("x", "3,4, 6 ,-3") == std::vector<std::int64_t>{3, 4, 6, -3});
}

TEST_CASE("an invalid list of integers is refused by the option's name") {
  for (const char* text : {"", "3,", ",3", "3;4", "3,4.5", "a", "3 4", "99999999999999999999"})
    CHECK_THROWS_WITH(integer_list("resnet: depths", text), Contains("resnet: depths is \""));
}

TEST_CASE("none is not integers where that is allowed") {
  CHECK(integers_or_none("x", " none ").empty());
  CHECK(integers_or_none("x", "3,4") == std::vector<std::int64_t>{3, 4});
  CHECK_THROWS_AS(integers_or_none("x", ""), fault_error);
}
