#include "actors/report/search_table.hpp"

#include "actors/report/report_table.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace hydra;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

model_report model(const char* name, std::uint32_t steps, model_status status) {
  model_report m;
  m.name = name;
  m.steps = steps;
  m.status = status;
  return m;
}

ranked_trial trial(const char* name, const char* rate, std::uint32_t steps, std::optional<double> score) {
  return {{name, {{"optimizer.learning_rate", rate}, {"schedule.warmup", "3"}}}, "", 0, steps, score};
}

ranked_trial stopped(ranked_trial t) {
  t.verdict = trial_verdict::stop;
  t.reason = "stopped at rung 1: 3rd of 3, 1 continues";
  return t;
}

report three_models() {
  report r;
  r.models = {model("a", 10, model_status::stopped), model("b", 40, model_status::finished),
              model("c", 12, model_status::failed)};
  r.models[0].validation.push_back({.step = 10, .loss = 1});
  r.models[2].error = {fault_code::not_finite, "the loss is\nnan"};
  return r;
}

const search_ranking ranking{
    "halving: 3 trials; 1 of 2 goes on after 10 of 40 steps",
    search_metric::validation,
    40,
    3,
    {trial("b", "1e-3", 40, 2.5), trial("c", "2e-3", 10, 2.75), stopped(trial("a", "4e-3", 10, 3))}};

}  // namespace

TEST_CASE("the steps before a copy began are those of another trial", "[report]") {
  search_ranking with_copy = ranking;
  with_copy.drawn = 2;
  with_copy.trials[0].of = "c";
  with_copy.trials[0].began = 10;
  CHECK_THAT(ranking_table(three_models(), with_copy),
             Catch::Contains("52 of 80 steps trained (65 %)") && Contains("  finished (from c at step 10)\n"));
}

TEST_CASE("what was decided may be newer than what a run has reported", "[report]") {
  report r = three_models();
  r.models[1] = model("b", 15, model_status::under_way);
  r.models.erase(r.models.begin() + 2);
  CHECK_THAT(ranking_table(r, ranking), Contains("b         40        2.5000 (40)") &&
                                            Contains("c         10        2.7500 (10)") &&
                                            Contains("; 60 of 120 steps trained"));
}

TEST_CASE(
    "the table of a search has its trials in the order of the ranking, with what varied, why they stopped and the cost",
    "[report]") {
  CHECK(ranking_table(three_models(), ranking) ==
        "model  steps  validation (step)  learning_rate  warmup  outcome\n"
        "b         40        2.5000 (40)           1e-3       3  finished\n"
        "c         12        2.7500 (10)           2e-3       3  failed: not finite: the loss is nan\n"
        "a         10        3.0000 (10)           4e-3       3  stopped at rung 1: 3rd of 3, 1 continues\n"
        "halving: 3 trials; 1 of 2 goes on after 10 of 40 steps; 62 of 120 steps trained (52 %)\n");
}

TEST_CASE("the tables of a run have the ranking instead of the trials' losses", "[report]") {
  report r = three_models();
  const std::string plain = to_table(r), searched = to_table(r, ranking);
  CHECK_THAT(searched, StartsWith(ranking_table(r, ranking) + "\ndevice"));
  CHECK_THAT(to_result(r, ranking), StartsWith(ranking_table(r, ranking) + "\nmakespan "));
  CHECK_THAT(searched, EndsWith(plain.substr(plain.find("\ndevice"))));
  CHECK(to_table(r, {}) == plain);
  r.models.push_back(model("joined", 7, model_status::finished));
  CHECK_THAT(to_table(r, ranking), StartsWith(ranking_table(r, ranking) + "\nmodel ") && Contains("\njoined "));
}

TEST_CASE(
    "a search for the best accuracy shows it, one that is not a number as nan, and one that is not there as a dash",
    "[report]") {
  search_ranking s = ranking;
  s.metric = search_metric::accuracy;
  s.trials[0].score = -0.348;
  s.trials[1].score = -std::numeric_limits<double>::quiet_NaN();
  s.trials[2].score.reset();
  const std::string table = ranking_table(three_models(), s);
  CHECK_THAT(table, Contains("accuracy") && Contains("b         40      34.8 % (40)  ") &&
                        Contains("c         12       nan % (10)  ") && Contains("a         10                -  "));
}

TEST_CASE("a trial that waits says so unless it has ended", "[report]") {
  ranked_trial waits = trial("a", "1", 10, 1);
  waits.verdict = trial_verdict::wait;
  waits.reason = "waits at rung 1";
  CHECK(outcome(model("a", 10, model_status::interrupted), waits) == "interrupted, waits at rung 1");
  CHECK(outcome(model("a", 10, model_status::under_way), waits) == "waits at rung 1");
  CHECK_THAT(outcome(three_models().models[2], waits), StartsWith("failed: not finite"));
  model_report unsaved = model("a", 10, model_status::stopped);
  unsaved.unsaved = true;
  CHECK(outcome(unsaved, stopped(waits)) == "stopped at rung 1: 3rd of 3, 1 continues, not saved");
}

TEST_CASE("columns of what varied stay distinct and narrow", "[report]") {
  search_ranking s{"random: 2 trials", search_metric::validation, 0, {}};
  s.trials.push_back({{"a", {{"optimizer.kind", "\"adamw\""}, {"schedule.kind", "\"cosine\""}}}});
  s.trials.push_back({{"b", {{"optimizer.kind", "\"lion\""}, {"adapter.layers", "[0, 1, 2, 3, 4, 5, 6, 7]"}}}});
  CHECK(key_titles(varied_keys(s)) == std::vector<std::string>{"optimizer.kind", "schedule.kind", "layers"});
  CHECK(value_cells(varied_keys(s), s.trials[0]) == std::vector<std::string>{"\"adamw\"", "\"cosine\"", "-"});
  const std::string table = ranking_table(report{}, s);
  CHECK_THAT(table, Contains("[0, 1, 2, 3, ...") && !Contains("[0, 1, 2, 3, 4"));
  CHECK_THAT(table, EndsWith("random: 2 trials; 0 steps trained\n"));
}
