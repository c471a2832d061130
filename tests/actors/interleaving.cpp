#include "tests/support/fuzzer.hpp"

#include <catch2/catch.hpp>

using namespace hydra::test;

TEST_CASE("thousands of random message orders, with and without losing a device, all end well", "[fuzz]") {
  for (std::uint32_t seed = 1; seed <= 4000; ++seed) {
    INFO("seed " << seed);
    REQUIRE(run_case(make_case(seed), seed) == "");
  }
}
