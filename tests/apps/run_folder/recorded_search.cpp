#include "apps/run_folder/recorded_search.hpp"

#include "tests/apps/temporary_folder.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace hydra::apps::recorded_search_test {

TEST_CASE("a trial that has diverged is ranked behind those that were stopped before it") {
  const temporary_folder run;
  const std::string text = example +
                           "[search]\nkind = \"halving\"\nsamples = 4\nfirst = 1\nfactor = 2\n"
                           "space.learning_rate = { log_uniform = [1e-5, 1e-3] }\n";
  run.write("workload.toml", text);
  const workload w = parse_workload(text, "workload.toml");
  const std::string best = w.models[0].description.name, stopped = w.models[1].description.name;
  run.write("search.jsonl", to_json_line({trial_result{best, 1, 2}, {{best, 1, trial_verdict::go_on, 1, 2}}}) +
                                to_json_line({trial_result{stopped, 1, 3}, {{stopped, 1, trial_verdict::stop, 2, 2}}}));
  report r;
  r.models.resize(1);
  r.models[0].name = best;
  REQUIRE(read_ranking(run.path(), r).trials.size() == 4);
  CHECK(read_ranking(run.path(), r).trials.front().is.name == best);
  r.models[0].error = {fault_code::not_finite, "its validation after step 2 is nan"};
  CHECK(read_ranking(run.path(), r).trials.front().is.name == stopped);
  CHECK(read_ranking(run.path(), r).trials.back().is.name == best);
}

TEST_CASE(
    "a search that stops no trial ranks them by their best evaluations: a controller may end them with worse ones") {
  const temporary_folder run;
  const std::string text = example +
                           "[search]\nkind = \"random\"\nsamples = 2\n"
                           "space.learning_rate = { log_uniform = [1e-5, 1e-3] }\n";
  run.write("workload.toml", text);
  const workload w = parse_workload(text, "workload.toml");
  report r;
  r.models.resize(2);
  for (std::size_t i = 0; i < 2; ++i) r.models[i].name = w.models[i].description.name;
  r.models[0].validation = {{.step = 1, .loss = 3}, {.step = 2, .loss = 2.5}};
  r.models[1].validation = {{.step = 1, .loss = 2}, {.step = 2, .loss = 4}};
  const search_ranking ranking = read_ranking(run.path(), r);
  REQUIRE(ranking.trials.size() == 2);
  CHECK(ranking.trials[0].is.name == r.models[1].name);
  CHECK(ranking.trials[0].steps == 1);
  CHECK(ranking.trials[0].score == 2);
  CHECK(ranking.trials[1].score == 2.5);
}

}  // namespace hydra::apps::recorded_search_test
