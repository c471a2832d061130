#include "actors/report/expense_file.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>

using namespace hydra;
using namespace std::chrono_literals;
using Catch::Contains;

namespace expense_file_test {

const expense one{.time = 2500ms, .cost = money{12345}, .joules = 70};
const expense two{.time = 1ms, .cost = money{1}, .joules = {}};

TEST_CASE("a run that is resumed knows what its parts before have taken, also those that were killed", "[report]") {
  const test::temporary_folder run;
  expense_file first(run.path(), false);
  CHECK(first.before().all == expense{});
  first.write({.all = two, .models = {{"gpt", two}}});
  first.write({.all = one + two, .models = {{"gpt", one}, {"bert", two}}});  // counts instead of the line before
  expense_file second(run.path(), true);
  CHECK(second.before().all == one + two);
  CHECK(second.before().of("gpt") == one);
  CHECK(second.before().of("bert") == two);
  CHECK(second.before().of("t5") == expense{});
  expense_file killed_at_once(run.path(), true);
  CHECK(killed_at_once.before().all == one + two);
  killed_at_once.write({.all = one, .models = {{"t5", one}}});
  expense_file third(run.path(), true);
  CHECK(third.before().all == one + one + two);
  CHECK(third.before().of("gpt") == one);
  CHECK(third.before().of("t5") == one);
  CHECK(third.note().empty());
  CHECK(expense_file(run.path(), false).before().all == expense{});
}

TEST_CASE("a damaged record of expenses is refused, by its name; one that cannot be written is noted", "[report]") {
  const test::temporary_folder run;
  for (const auto* text : {"", "{", "[]", R"({"before": {"device_s": 1, "models": {}}})",
                           R"({"before": {"device_s": "1", "models": {}}, "last": {"device_s": 1, "models": {}}})"}) {
    run.write("expenses.json", text);
    CHECK_THROWS_WITH(expense_file(run.path(), true), Contains("expenses.json: damaged: "));
  }
  expense_file nowhere(run.path() / "none", false);
  nowhere.write({.all = one});
  CHECK_THAT(nowhere.note(), Contains("expenses.json"));
}

}  // namespace expense_file_test
