#include "actors/policy/policy_options.hpp"

#include "actors/policy/catalog.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace hydra;

namespace {

const std::vector<option> known{{"tolerance", 0.03, false, "share of the bound", {0, 1}},
                                {"units", 4.0, false, "of laxity", {0, 100}}};

std::string refusal(const std::map<std::string, double>& values, const std::vector<option>& options = known) {
  try {
    complete({.seed = 0, .values = values}, options, "mine");
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("options that are left out have their standard values, the seed stays", "[policy]") {
  const auto o = complete({.seed = 7, .values = {{"units", 9}}}, known, "mine");
  CHECK(o.seed == 7);
  CHECK(o.values == std::map<std::string, double>{{"tolerance", 0.03}, {"units", 9}});
}

TEST_CASE("an unknown option is refused with the nearest and all that are known", "[policy]") {
  CHECK(refusal({{"tolerence", 0.1}}) ==
        "policy \"mine\": there is no option \"tolerence\"; did you mean \"tolerance\"? (known: tolerance, units)");
  CHECK(refusal({{"units", 1}}, {}) == "policy \"mine\": there is no option \"units\"; there is none");
}

TEST_CASE("a value out of range is refused with what is allowed", "[policy]") {
  CHECK(refusal({{"tolerance", 1.5}}) ==
        "policy \"mine\": option tolerance must be a number of at least 0 and at most 1, got 1.5");
  CHECK(refusal({{"tolerance", -0.1}}) != "accepted");
  CHECK(refusal({{"tolerance", std::numeric_limits<double>::quiet_NaN()}}) != "accepted");
  CHECK(refusal({{"tolerance", 1}}) == "accepted");
}

TEST_CASE("a built-in policy checks its options before it is made", "[policy]") {
  CHECK(make_policy("fifo", {.seed = 1})->name() == "fifo");
  CHECK_THROWS_WITH(make_policy("fifo", {.seed = 1, .values = {{"speed", 1}}}),
                    Catch::Contains("\"fifo\": there is no option \"speed\""));
}
