#include "apps/commands/exit_status.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

namespace {

report run_of(bool interrupted, std::vector<model_status> models) {
  report r;
  r.interrupted = interrupted;
  for (const model_status s : models) r.models.emplace_back().status = s;
  return r;
}

}  // namespace

TEST_CASE("a run ends with 0, with 1 if a model failed, with 130 if it was interrupted whatever else happened") {
  CHECK(status_of(run_of(false, {model_status::finished, model_status::stopped})) == 0);
  CHECK(status_of(run_of(false, {model_status::finished, model_status::failed})) == 1);
  CHECK(status_of(run_of(true, {model_status::finished, model_status::failed, model_status::interrupted})) == 130);
  CHECK(status_of(run_of(true, {model_status::finished})) == 130);
}

TEST_CASE("a run ends with 1 if its callbacks were given up, though every model has finished") {
  auto r = run_of(false, {model_status::finished});
  r.callbacks_lost = "a callback has not returned within 300.000 s after step 3 of a";
  CHECK(status_of(r) == 1);
}

TEST_CASE(
    "why a run ends with 1 is said in a line: models that failed or were not saved, files that were not written") {
  report r = run_of(false, {model_status::finished, model_status::failed, model_status::finished});
  CHECK(failures_of(r) == "1 of 3 models failed");
  r.models[0].unsaved = true;
  r.unsaved = 2;
  CHECK(status_of(r) == 1);
  CHECK(failures_of(r) == "1 of 3 models failed; 1 of 3 models could not be saved at the end; "
                          "1 file of the run folder could not be written");
}

TEST_CASE("a command that throws ends with 2 for its input, 3 for a budget, 1 for all else") {
  CHECK(status_of(fault_code::bad_input) == 2);
  CHECK(status_of(fault_code::does_not_fit) == 3);
  CHECK(status_of(fault_code::io) == 1);
}

}  // namespace hydra::apps
