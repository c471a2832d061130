#include "actors/policy/catalog.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

TEST_CASE("every built-in policy is made under the name of its entry", "[policy]") {
  REQUIRE(built_in_policies().size() >= 5);
  CHECK(built_in_policies().front().name == "sharded-lrtf");
  for (const auto& entry : built_in_policies()) {
    CHECK(make_policy(entry.name, 0)->name() == entry.name);
    CHECK_FALSE(entry.help.empty());
  }
}

TEST_CASE("an unknown policy is refused with the nearest and with all known names", "[policy]") {
  try {
    make_policy("sharded-lrft", 0);
    FAIL("was accepted");
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    CHECK_THAT(e.what(), Catch::Contains("\"sharded-lrft\"") && Catch::Contains("did you mean \"sharded-lrtf\"?") &&
                             Catch::Contains("whole-model"));
  }
}

TEST_CASE("the seed reaches the random policy", "[policy]") {
  const std::vector<candidate> candidates(1000);
  const auto first_choice = [&](std::uint64_t seed) { return make_policy("random", seed)->choose({}, candidates, {}); };
  CHECK(first_choice(1) == first_choice(1));
  CHECK(first_choice(1) != first_choice(2));
}
