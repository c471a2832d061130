#include "actors/report/expense_file.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/text_file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

using namespace hydra;
using namespace std::chrono_literals;
using Catch::Contains;

namespace expense_file_test {

const expense one{.time = 2500ms, .cost = money{12345}, .joules = 70};
const expense two{.time = 1ms, .cost = money{1}, .joules = 2};
const expense free_of_charge{.time = 3s, .cost = {}, .joules = 5};
const earlier_parts none{.currency = "USD"};
const earlier_parts some{.resumed = true, .has_states = true, .currency = "USD"};
constexpr expense_gaps both{.cost = true, .joules = true};

shared_expense of_gpt(const expense& e) { return {.all = e, .models = {{"gpt", e}}}; }

TEST_CASE("a run that is resumed knows what its parts before have taken, also those that were killed", "[report]") {
  const test::temporary_folder run;
  expense_file first(run.path(), none);
  CHECK(first.before().all == expense{});
  first.write(of_gpt(two));
  first.write({.all = one + two, .models = {{"gpt", one}, {"bert", two}}});  // counts instead of the line before
  expense_file second(run.path(), some);
  CHECK(second.before().all == one + two);
  CHECK(second.before().of("gpt") == one);
  CHECK(second.before().of("bert") == two);
  CHECK(second.before().of("t5") == expense{});
  expense_file killed_at_once(run.path(), some);
  CHECK(killed_at_once.before().all == one + two);
  killed_at_once.write({.all = one, .models = {{"t5", one}}});
  expense_file third(run.path(), some);
  CHECK(third.before().all == one + one + two);
  CHECK(third.before().of("gpt") == one);
  CHECK(third.before().of("t5") == one);
  CHECK(third.before().gaps == expense_gaps{});
  third.write(of_gpt(one));
  CHECK(third.notes().empty());
  CHECK(read_expenses(run.path())->currency == "USD");
  CHECK(expense_file(run.path(), none).before().all == expense{});
  CHECK_FALSE(read_expenses(run.path()));  // it was of another run
}

TEST_CASE("a damaged record of expenses is set aside, and said to be missing from then on", "[report]") {
  const std::string zero = R"({"device_s": 0, "models": {}})";
  const auto with = [&zero](const std::string& before, const std::string& last) {
    return R"({"currency": "USD", "gaps": [], "before": )" + before + R"(, "last": )" + last + "}";
  };
  for (const auto& [text, why] : std::vector<std::pair<std::string, const char*>>{
           {"", ""},
           {"{", ""},
           {"[]", ""},
           {R"({"before": {"device_s": 1, "models": {}}})", ""},
           {with(R"({"device_s": "1", "models": {}})", zero), "device_s"},
           {with(R"({"device_s": -1, "models": {}})", zero), "device_s: -1 is given, expected 0 to 1e+12"},
           {with(zero, R"({"device_s": 0, "cost": 1e300, "models": {}})"), "cost: 1e+300 is given"},
           {with(zero, R"({"device_s": 2, "models": {"gpt": {"device_s": 1}}})"), "do not add up"}}) {
    const test::temporary_folder run;
    run.write("expenses.json", text);
    CHECK_THROWS_WITH(read_expenses(run.path()), Contains("expenses.json: damaged: ") && Contains(why));
    expense_file second(run.path(), some);
    CHECK(second.before().gaps == both);
    CHECK(second.notes().empty());  // the run may cost nothing
    second.write(of_gpt(one));
    REQUIRE(second.notes().size() == 1);
    CHECK_THAT(second.notes()[0], Contains("not those of all parts of the run") && Contains("damaged") &&
                                      Contains("it is kept as expenses.old.json"));
    CHECK(read_text(run.path() / "expenses.old.json", text_kind::record) == text);
    expense_file third(run.path(), some);
    CHECK(third.before().all == one);
    CHECK(third.before().gaps == both);
    third.write(of_gpt(one));
    CHECK(third.notes().empty());
  }
}

TEST_CASE("a record of expenses that is lost is noted, unless the run has not saved anything yet", "[report]") {
  const test::temporary_folder run;
  expense_file begins(run.path(), {.resumed = true});
  CHECK(begins.before().gaps == expense_gaps{});
  expense_file goes_on(run.path(), some);
  CHECK(goes_on.before().gaps == both);
  goes_on.write(of_gpt(one));
  REQUIRE(goes_on.notes().size() == 1);
  CHECK_THAT(goes_on.notes()[0], Contains("expenses.json is not there"));
}

TEST_CASE("amounts in another currency are not added", "[report]") {
  const test::temporary_folder run;
  expense_file(run.path(), {.currency = "EUR"}).write(of_gpt(one));
  expense_file second(run.path(), some);
  CHECK(second.before().of("gpt") == expense{.time = one.time, .cost = {}, .joules = one.joules});
  CHECK(second.before().gaps == expense_gaps{.cost = true});
  second.write(of_gpt(two));
  REQUIRE(second.notes().size() == 1);
  CHECK_THAT(second.notes()[0], Contains("1.2345 EUR of earlier parts of the run cannot be added to USD"));
  CHECK(expense_file(run.path(), some).before().all ==
        expense{.time = one.time + two.time, .cost = two.cost, .joules = 72});
  CHECK(expense_file(run.path(), {.resumed = true, .has_states = true}).before().gaps == expense_gaps{.cost = true});
}

TEST_CASE("a part without prices among others that have some is a gap of the whole", "[report]") {
  const test::temporary_folder run;
  expense_file(run.path(), none).write(of_gpt(one));
  expense_file(run.path(), some).write(of_gpt(free_of_charge));
  const auto before = expense_file(run.path(), some).before();
  CHECK(before.all.cost == one.cost);
  CHECK(before.all.joules == 75);
  CHECK(before.gaps == expense_gaps{.cost = true});
}

TEST_CASE("a record of expenses that cannot be written is noted", "[report]") {
  const test::temporary_folder run;
  expense_file nowhere(run.path() / "none", none);
  nowhere.write(of_gpt(one));
  REQUIRE(nowhere.notes().size() == 1);
  CHECK_THAT(nowhere.notes()[0], Contains("are not recorded: ") && Contains("expenses.json"));
}

}  // namespace expense_file_test
