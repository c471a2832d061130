#include "actors/report/report_json.hpp"
#include "actors/report/report_table.hpp"
#include "apps/run_folder/recorded_run.hpp"

#include "tests/apps/report/example.hpp"
#include "tests/apps/temporary_folder.hpp"
#include "tests/support/ordinary_user.hpp"

#include <catch2/catch.hpp>

#include <cmath>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

std::string report_refusal(const std::string& text) {
  try {
    parse_report(text, "report.json");
    return "";
  } catch (const fault_error& e) {
    return e.what_happened().code == fault_code::bad_input ? e.what_happened().text : "wrong code";
  }
}

}  // namespace

TEST_CASE("everything that a report documents is read") {
  const recorded_run r = example_run();
  CHECK(r.summary.name == "<run> & more");
  CHECK(r.summary.makespan == std::chrono::seconds{10});
  CHECK(r.bound == "uniform");
  CHECK(r.bound_seconds == 8);
  CHECK(r.efficiency == 0.8);
  REQUIRE(r.bounds.size() == 3);
  CHECK(r.bounds[2].name == "uniform");
  REQUIRE(r.breakdown.at(0).size() == 7);
  CHECK(r.breakdown[0][1].name == "exposed_h2d");
  CHECK(r.summary.models.at(0).error.code == fault_code::not_finite);
  CHECK(std::isnan(r.summary.models[0].loss.at(2)));
  CHECK(r.summary.limits.uniform == std::chrono::seconds{8});
  const auto& validation = r.summary.models.at(1).validation;
  REQUIRE(validation.size() == 2);
  CHECK(validation[0].floor == 1.5);
  CHECK_FALSE(validation[1].floor);
}

TEST_CASE("an interrupted run is read with its notes, the status of its models and what its saving took") {
  const report r = parse_report(interrupted_report, "report.json").summary;
  CHECK(r.interrupted);
  CHECK(r.notes == std::vector<std::string>{"a checkpoint of <a> was passed over"});
  CHECK(r.models.at(0).status == model_status::interrupted);
  CHECK(r.models.at(1).status == model_status::finished);
  CHECK(r.save == std::chrono::milliseconds{500});
  CHECK_FALSE(example_run().summary.interrupted);
}

TEST_CASE("a report that was written and read again prints the same tables") {
  report original = example_run().summary;
  original.devices.at(0).numbers = precision::bf16;
  original.models.at(1).unsaved = true;
  original.devices[0].model = "NVIDIA H200";
  original.devices[0].reserve = byte_count{7};
  const report again = parse_report(to_json(original), "report.json").summary;
  CHECK(again.devices.at(0).model == "NVIDIA H200");
  CHECK(again.devices[0].reserve == byte_count{7});
  CHECK(to_table(parse_report(to_json(original), "report.json").summary) == to_table(original));
}

TEST_CASE("what a report lacks is absent, not wrong") {
  const recorded_run r = parse_report("{\"models\": [{\"name\": \"a\"}], \"devices\": [{\"name\": \"cpu:0\"}]}", "r");
  CHECK(r.summary.models.at(0).name == "a");
  CHECK(r.bounds.empty());
  CHECK(r.breakdown.at(0).empty());
  CHECK(r.summary.models[0].validation.empty());
}

TEST_CASE("what is not a report is refused with the file's name") {
  CHECK_THAT(report_refusal(full_report.substr(0, full_report.size() / 2)),
             StartsWith("report.json: not valid JSON at byte ") && Contains("truncated"));
  CHECK_THAT(report_refusal(""), StartsWith("report.json: not valid JSON"));
  CHECK_THAT(report_refusal("[]"), StartsWith("report.json: this is not a report"));
  CHECK_THAT(report_refusal("{}"), StartsWith("report.json: this is not a report"));
  CHECK_THAT(report_refusal("{\"models\": 3}"), StartsWith("report.json: not what a run writes"));
  CHECK_THAT(report_refusal("{\"models\": [3]}"), StartsWith("report.json: not what a run writes"));
  CHECK_THAT(report_refusal("{\"models\": [], \"bounds\": 3}"), StartsWith("report.json: not what a run writes"));
  CHECK_THAT(report_refusal("{\"models\": [], \"makespan_s\": \"long\"}"), StartsWith("report.json: not what a run"));
  CHECK_THAT(report_refusal("{\"models\": [], \"name\": \"\xFF\"}"), StartsWith("report.json: not valid JSON"));
}

TEST_CASE("a folder without a report is refused, and so is what is not a folder") {
  const temporary_folder folder;
  CHECK_THROWS_WITH(read_report(folder.path() / "none"), Contains("none: no such run folder"));
  CHECK_THROWS_WITH(read_report(folder.write("file", "")), Contains("file: a file; the folder of a run is expected"));
  CHECK_THROWS_WITH(read_report(folder.path()), Contains("report.json: no such file"));
}

TEST_CASE("a report that is there and may not be read is refused with the system's reason") {
  const temporary_folder folder;
  const auto report = folder.write("report.json", full_report);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  std::filesystem::permissions(report, std::filesystem::perms::none);
  const test::ordinary_user somebody;
  CHECK_THROWS_WITH(read_report(folder.path()), report.string() + ": Permission denied");
}

}  // namespace hydra::apps
