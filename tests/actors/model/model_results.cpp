#include "actors/model/model_results.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/mlp/mlp.hpp"
#include "partition/plan/plan_outline.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <memory>
#include <utility>

using namespace hydra;

namespace {

/// Two shards, four micro-batches in two waves; clips gradients.
sharded_model_ptr clipping_model() {
  auto m = std::make_shared<sharded_model>();
  m->plan.shards.resize(2);
  m->plan.micro_batches = 4;
  m->plan.waves = 2;
  m->graphs = graphs_of(m->plan);
  m->steps = 3;
  m->update.clip_norm = 1;
  return m;
}

unit loss_unit(std::uint32_t first) {
  unit u;
  u.way = direction::backward;
  u.shard = shard_index{1};
  u.first_micro_batch = micro_batch_index{first};
  u.micro_batches = 2;
  return u;
}

float loss_after(const model_standing& before) {
  model_results resumed{{}, clipping_model(), before};
  resumed.step_computed(step_index{0});
  resumed.step_norm(version_index{1}, 1);
  resumed.take_step();
  return resumed.history().losses.at(0);
}

}  // namespace

TEST_CASE("a step that waits for its norm when it is saved keeps its loss") {
  model_results first{{}, clipping_model(), {}};
  first.step_losses(loss_unit(2), {3, 4});
  first.step_losses(loss_unit(0), {1, 2});
  CHECK(first.open_losses() == std::vector<float>{10});
  CHECK(loss_after({.next = {1, {0, 0}}, .losses = first.open_losses()}) == 10);  // all of its units have committed
  CHECK(loss_after({.next = {0, {2, 2}}, .losses = first.open_losses()}) == 10);  // not all, but all with a loss
}

TEST_CASE("losses of some waves are kept until the others are known") {
  model_results first{{}, clipping_model(), {}};
  first.step_losses(loss_unit(2), {3, 4});
  model_results resumed{{}, clipping_model(), {.next = {0, {1, 2}}, .losses = first.open_losses()}};
  CHECK(resumed.step_losses(loss_unit(0), {1, 2}) == 10.0f);
}

TEST_CASE("an evaluation whose loss is not finite is told from one that had no targets") {
  auto m = std::make_shared<sharded_model>();
  const auto data = open_data({synthetic_classes{.samples = 64, .validation_samples = 0}}, 0);
  m->model = std::make_shared<const chain>(mlp({.width = 4}).build(*data));
  m->plan.shards.resize(1);
  m->plan.evaluation.micro_batches = 2;
  m->graphs = graphs_of(m->plan);
  model_results results{{}, std::move(m), {}};
  unit u;
  u.way = direction::evaluate;
  u.micro_batches = 2;
  const auto is_sound = [&](std::size_t targets, float loss) {
    REQUIRE(results.add_scores(u, targets, {{loss, 0}, {1, 0}}));
    return results.finish_evaluation(3);
  };
  CHECK(is_sound(4, 2));
  CHECK_FALSE(is_sound(4, std::numeric_limits<float>::quiet_NaN()));
  CHECK_FALSE(is_sound(4, std::numeric_limits<float>::infinity()));
  CHECK(is_sound(0, 0));
}
