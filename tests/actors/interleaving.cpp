#include "tests/support/depth.hpp"
#include "tests/support/fuzzer.hpp"

#include <catch2/catch.hpp>

using namespace hydra::test;

TEST_CASE("thousands of random message orders, with and without trouble, all end well", "[fuzz]") {
  const auto some = seeds(4000);
  CHECK(fuzz(some.front(), some.back()) == "");
}

TEST_CASE("a hundred thousand more random message orders end well", "[.deep]") { CHECK(fuzz(10'001, 110'000) == ""); }
