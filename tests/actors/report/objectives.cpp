#include "actors/report/objectives.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace hydra;
using namespace std::chrono_literals;

namespace {

model_report completed(duration at, double priority, duration arrival = {}) {
  model_report m;
  m.completed = at;
  m.priority = priority;
  m.arrival = arrival;
  return m;
}

}  // namespace

TEST_CASE("completions count from each model's arrival and weigh as its priority", "[objectives]") {
  const std::vector models{completed(2s, 1), completed(10s, 3, 4s)};
  const auto o = objectives_of(models);
  CHECK(o.mean_completion == duration{4s});      // (2 + 6) / 2
  CHECK(o.weighted_completion == duration{5s});  // (2 + 3 * 6) / 4
  CHECK(o.left_out == 0);
}

TEST_CASE("models that are not complete are left out, and counted", "[objectives]") {
  const std::vector models{completed(2s, 1), model_report{}};
  CHECK(objectives_of(models).mean_completion == duration{2s});
  CHECK(objectives_of(models).left_out == 1);
}

TEST_CASE("a model that an earlier run has completed does not count as incomplete", "[objectives]") {
  model_report before;
  before.steps = before.steps_before = 4;
  CHECK(objectives_of(std::vector{completed(2s, 1), before}).left_out == 0);
  before.status = model_status::failed;
  CHECK(objectives_of(std::vector{before}).left_out == 1);
}

TEST_CASE("without a complete model there is no mean", "[objectives]") {
  const std::vector<model_report> models(3);
  CHECK_FALSE(objectives_of(models).mean_completion);
  CHECK_FALSE(objectives_of(models).weighted_completion);
  CHECK(objectives_of(models).left_out == 3);
}

TEST_CASE("a deadline is missed by a model that is complete after it, not by one that is just in time",
          "[objectives]") {
  std::vector models{completed(2s, 1), completed(3s, 1), completed(4s, 1)};
  models[0].deadline = 3s;
  models[1].deadline = 3s;
  models[2].deadline = 3s;
  CHECK(objectives_of(models).deadlines == 3);
  CHECK(objectives_of(models).missed_deadlines == 1);
}
