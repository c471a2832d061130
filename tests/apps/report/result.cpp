#include "apps/report/result.hpp"

#include "tests/apps/report/example.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

/// Two models of a grid. The first one was stopped early, and ends worse than it was.
recorded_run grid_run() {
  recorded_run run;
  model_report early, whole;
  early.name = "gpt-1e-2";
  early.status = model_status::stopped;
  early.steps = 60;
  early.validation = {{.step = 30, .loss = 2.5, .perplexity = 12.18, .accuracy = 0.345}, {.step = 60, .loss = 3}};
  whole.name = "gpt-1e-4";
  whole.steps = 90;
  whole.validation = {{.step = 90, .loss = 2.75}};
  run.summary.models = {whole, early};
  run.settings = {{"batch_size", "optimizer.learning_rate"},
                  {{"gpt-1e-2", {"8", "1e-2"}}, {"gpt-1e-4", {"4", "1e-4"}}}};
  return run;
}

}  // namespace

TEST_CASE("the result begins with the best model, by its best evaluation, and with what tells it from the others") {
  CHECK_THAT(result_lines(grid_run()),
             StartsWith("best model  gpt-1e-2: validation 2.5000 at step 30 of 60, perplexity 12.18, accuracy 34.5 %\n"
                        "settings    batch_size 8, learning_rate 1e-2\n"
                        "run         1 finished, 1 stopped in "));
  CHECK(best_first(grid_run()) == std::vector<std::size_t>{1, 0});
}

TEST_CASE("the result says what the run has taken") {
  recorded_run run = grid_run();
  report& r = run.summary;
  r.pilot = std::chrono::seconds{1};
  r.load = std::chrono::seconds{2};
  r.makespan = std::chrono::seconds{60};
  r.save = std::chrono::seconds{3};
  r.process_peak = byte_count{3 << 20};
  r.devices.resize(2);
  for (device_report& d : r.devices) d.budget = byte_count{4 << 20};
  r.devices[1].name = "cpu:1";
  r.devices[1].peak = byte_count{2 << 20};
  for (model_report& m : r.models) m.tokens = 900;
  r.models[0].steps_before = 30;  // of 90, by an earlier run
  CHECK_THAT(result_lines(run), Contains("1 finished, 1 stopped in 1 min 06 s, 25 tokens/s; memory peak 2.0 MiB of "
                                         "4.0 MiB on cpu:1, 3.0 MiB in the\n            process\n"));
}

TEST_CASE("commands to type next stand on lines of their own, below a note about them") {
  recorded_run run = grid_run();
  run.next = {"hydra export a b c", "hydra generate a"};
  run.note_on_next = "of the last step";
  CHECK_THAT(result_lines(run), Catch::EndsWith("\nnote        of the last step\nnext        hydra export a b c\n"
                                                "            hydra generate a\n"));
}

TEST_CASE("a model that failed is not the best one, and one that was not evaluated says so") {
  recorded_run run = grid_run();
  run.summary.models[1].status = model_status::failed;
  CHECK_THAT(result_lines(run), StartsWith("best model  gpt-1e-4: "));
  run.summary.models.pop_back();
  run.summary.models[0].validation.clear();
  run.summary.models[0].loss = {3, 2};
  CHECK_THAT(result_lines(run), StartsWith("model       gpt-1e-4: training loss 2.0000 at step 90; it was not"));
  run.summary.models[0].status = model_status::failed;
  CHECK_FALSE(best_model(run));
  CHECK_THAT(result_lines(run), StartsWith("run         1 failed in "));
  CHECK(result_lines({}).empty());
}

TEST_CASE("the best trial of a search for accuracy is shown by the evaluation that has ranked it") {
  recorded_run run = grid_run();
  run.search.metric = search_metric::accuracy;
  run.search.trials = {{.is = {"gpt-1e-2", {{"optimizer.learning_rate", "1e-2"}}}, .steps = 60, .score = -0.5},
                       {.is = {"gpt-1e-4", {{"optimizer.learning_rate", "1e-4"}}}}};
  run.summary.models[1].validation[1].accuracy = 0.5;
  CHECK_THAT(result_lines(run), StartsWith("best model  gpt-1e-2: validation 3.0000 at step 60 of 60, accuracy 50.0 %\n"
                                           "settings    learning_rate 1e-2\n"));
}

}  // namespace hydra::apps
