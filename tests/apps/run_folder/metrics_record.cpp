#include "actors/report/report_table.hpp"
#include "apps/run_folder/metrics_record.hpp"

#include "apps/report/page.hpp"
#include "tests/apps/report/example.hpp"
#include "tests/apps/report/xml_check.hpp"
#include "tests/apps/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <sstream>
#include <string>

namespace hydra::apps {

using Catch::Contains;

namespace {

const std::string plan =
    "[run]\nname = \"r\"\n[[model]]\nname = \"late\"\nchain = { family = \"mlp\" }\n[[model]]\nname = \"a\"\n";

const std::string reported = R"({"time": 100, "model": "a", "step": 1, "steps": 9, "loss": 3, "tokens": 10}
{"time": 101, "model": "a", "step": 2, "steps": 9, "loss": 2, "learning_rate": 0.5, "tokens": 20, "tokens_per_s": 5}
{"time": 102, "model": "a", "step": 2, "validation": 2.5, "accuracy": 0.5}
{"time": 103, "model": "a", "step": 3, "steps": 9, "loss": null, "tokens": 30, "tokens_per_s": 5}
{"time": 104, "model": "a", "st)";

recorded_run parsed_metrics(const std::string& text, const std::string& of_plan, double now, bool running) {
  std::istringstream lines{text};
  return parse_metrics(lines, of_plan, now, running);
}

}  // namespace

TEST_CASE("metrics show the progress of the workload's models, in its order") {
  const recorded_run r = parsed_metrics(reported, plan, 110, true);
  CHECK(r.summary.name == "r");
  CHECK(r.unfinished == "under way; last line 7 s ago");
  REQUIRE(r.summary.models.size() == 2);
  CHECK(r.summary.models[0].name == "late");
  CHECK(r.summary.models[0].family == "mlp");
  CHECK(r.summary.models[0].steps == 0);
  const model_report& a = r.summary.models[1];
  CHECK(a.steps == 3);
  CHECK(r.steps_in_all.at("a") == 9);
  CHECK(r.learning_rates == std::map<std::string, double>{{"a", 0.5}});
  CHECK(a.loss.at(1) == 2);
  CHECK(std::isnan(a.loss.at(2)));
  CHECK(a.validation.at(0).accuracy == 0.5);
  CHECK(tokens_per_second(a) == "5");
  CHECK(a.status == model_status::under_way);
}

TEST_CASE("of a line that no run writes, so long it is, not all is held") {
  const std::string endless = "{\"model\": \"a\", \"step\": 1, \"loss\": 3" + std::string(2 << 20, ' ') + "}\n";
  const recorded_run r = parsed_metrics(endless + "{\"model\": \"b\", \"step\": 1, \"loss\": 2}", "", 110, true);
  REQUIRE(r.summary.models.size() == 1);
  CHECK(r.summary.models[0].name == "b");
}

TEST_CASE("a step that is reported again removes what followed it") {
  const recorded_run r =
      parsed_metrics(reported + "\n{\"model\": \"a\", \"step\": 2, \"loss\": 2}\n", "no TOML [", 110, true);
  REQUIRE(r.summary.models.size() == 1);
  CHECK(r.summary.models[0].loss == std::vector<float>{3, 2});
  CHECK(r.summary.models[0].validation.empty());
}

TEST_CASE("lines without a time, as a resume adds them, hide neither an earlier one's nor that there are steps") {
  const std::string added = "{\"model\": \"a\", \"step\": 4, \"loss\": 2}\n";
  CHECK(parsed_metrics(reported + "\n" + added, plan, 110, true).unfinished == "under way; last line 7 s ago");
  CHECK(parsed_metrics(added, plan, 110, false).unfinished ==
        "ended without a report (killed?); its last line has no time");
  CHECK(parsed_metrics("", plan, 110, true).unfinished == "under way; no step is reported yet");
}

TEST_CASE("a step far behind all others is not a step of the run, whose list of losses would take the memory") {
  const recorded_run r =
      parsed_metrics(reported + "\n{\"model\": \"a\", \"step\": 900000000, \"loss\": 2}\n", plan, 110, true);
  CHECK(r.summary.models[1].loss.size() == 3);
}

TEST_CASE("a run that has not ended has a page with its curves") {
  const std::string page = to_page(parsed_metrics(reported, plan, 110, true), {});
  CHECK(xml_fault(page) == "");
  CHECK_THAT(page, Contains("under way; last line 7 s ago") && Contains("loss curves") && Contains("not ended") &&
                       !Contains("makespan"));
}

TEST_CASE("metrics take precedence if they have later steps than the report") {
  const temporary_folder folder;
  folder.write("metrics.jsonl", reported);
  CHECK_FALSE(latest_record(folder.path()).unfinished.empty());
  const std::string report = R"({"models": [{"name": "a", "steps": 3}]})";
  folder.write("report.json", report);
  CHECK(latest_record(folder.path()).unfinished.empty());
  folder.write("metrics.jsonl", reported + "\n{\"model\": \"a\", \"step\": 4, \"loss\": 2}\n");
  CHECK_FALSE(latest_record(folder.path()).unfinished.empty());
}

}  // namespace hydra::apps
