#include "actors/selection/search_record.hpp"

#include "actors/selection/asha.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace hydra;

namespace {

const search_record with_copy{
    trial_result{"a \"quoted\"", 20, 0.1},
    {{"a \"quoted\"", 20, trial_verdict::stop, 4, 4,
      trial_copy{"a.2", "b", 40, {{"optimizer.learning_rate", "8e-5"}, {"schedule.kind", "\"cosine\""}}}},
     {"b", 20, trial_verdict::wait},
     {"c", 20, trial_verdict::go_on, 1, 4}}};

bool same(const search_record& a, const search_record& b) { return a.event == b.event && a.decisions == b.decisions; }

std::string failure(const std::string& lines) {
  try {
    parse_search_records(lines);
    return "";
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::damaged);
    return e.what_happened().text;
  }
}

}  // namespace

TEST_CASE("a record of a search is read as it was written", "[selection]") {
  const search_record end{trial_ended{"b"}, {}};
  const std::string lines = to_json_line(with_copy) + to_json_line(end);
  const std::vector<search_record> read = parse_search_records(lines);
  REQUIRE(read.size() == 2);
  CHECK(same(read[0], with_copy));
  CHECK(same(read[1], end));
  CHECK(to_json_line(end) == "{\"trial\":\"b\",\"ended\":true,\"decisions\":[]}\n");
}

TEST_CASE("a score keeps its bits, and one that is not finite stays that", "[selection]") {
  const double third = 1.0 / 3;
  const auto read =
      parse_search_records(to_json_line({trial_result{"a", 1, third}, {}}) +
                           to_json_line({trial_result{"a", 1, std::numeric_limits<double>::infinity()}, {}}));
  CHECK(std::get<trial_result>(read[0].event).score == third);
  CHECK_FALSE(std::isfinite(std::get<trial_result>(read[1].event).score));
}

TEST_CASE("a last line that was being written is left out", "[selection]") {
  const std::string line = to_json_line(with_copy);
  CHECK(parse_search_records(line + line.substr(0, line.size() - 1)).size() == 1);
  CHECK(parse_search_records("").empty());
}

TEST_CASE("a line that is not a decision is damage, with its number", "[selection]") {
  const std::string line = to_json_line(with_copy);
  for (const char* bad : {"{\n", "3\n", "{}\n", "\n",
                          R"({"trial":1,"steps":2,"score":3,"decisions":[]})"
                          "\n",
                          R"({"trial":"a","ended":true,"decisions":[{"trial":"a","steps":1,"verdict":"perhaps"}]})"
                          "\n"})
    CHECK_THAT(failure(line + bad), Catch::StartsWith("line 2 is not a decision of a search: "));
}

TEST_CASE("records of another search are refused when they are replayed", "[selection]") {
  const std::vector<std::string> names{"a", "b", "c", "d"};
  asha rule{names, {10, 30}, 2}, same{names, {10, 30}, 2}, other{names, {10, 30}, 4};
  std::vector<search_record> records;
  for (const std::string& name : names) records.push_back(decide(rule, trial_result{name, 10, 1}));
  CHECK_NOTHROW(replay(same, records));
  CHECK_THROWS_WITH(replay(other, records),
                    Catch::StartsWith("line 2: ") && Catch::Contains("otherwise than recorded"));
}
