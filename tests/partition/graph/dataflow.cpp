#include "partition/graph/dataflow.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>

using namespace hydra;

namespace {

step_shape of_shards(std::uint32_t n) { return {.shards = n}; }

/// The units of a step in their order.
std::vector<unit> step_of(const step_shape& shape, std::uint32_t step = 3) {
  const step_graph graph(shape);
  std::vector<unit> all;
  for (step_graph::node n = 0; n < graph.lane_length(); ++n) {
    all.push_back(graph.at(n));
    all.back().model = model_id{2};
    all.back().step = step_index{step};
  }
  return all;
}

bool comes_from_data(const block_id& id) {
  return id.kind == block_kind::minibatch || id.kind == block_kind::targets;
}

std::vector<block_id> read_by(const unit& u, const step_shape& shape) {
  std::vector<block_id> reads;
  for (std::uint32_t k = 0; k < u.micro_batches; ++k) {
    const auto in = inputs_of(u, shape, micro_batch_index{k});
    reads.push_back(in.input);
    if (in.second) {
      reads.push_back(*in.second);
    }
  }
  return reads;
}

/// Steps of several lengths, with and without shards whose parameters are all frozen.
step_shape any_shape() {
  const auto shards = GENERATE(1u, 2u, 3u, 6u);
  const auto frozen = GENERATE(0u, 1u, 5u);
  return {.shards = shards, .micro_batches = 3, .first_trained = std::min(frozen, shards - 1)};
}

}  // namespace

TEST_CASE("everything a unit reads was produced before it in its step or comes from the data") {
  const auto shape = any_shape();
  std::set<block_id> there;
  for (const auto& u : step_of(shape)) {
    for (const auto& id : read_by(u, shape)) {
      INFO(to_string(u) << " reads " << to_string(id));
      CHECK((comes_from_data(id) || there.contains(id)));
    }
    for (const auto& id : produced_by(u, shape)) {
      INFO(to_string(u) << " produces " << to_string(id));
      CHECK(there.insert(id).second);
    }
  }
}

TEST_CASE("everything produced in a step is consumed once at its end, but for gradients and loss") {
  const auto shape = any_shape();
  std::map<block_id, int> consumed;
  std::set<block_id> used;
  for (const auto& u : step_of(shape)) {
    for (const auto& id : read_by(u, shape)) {
      CHECK(consumed[id] == 0);  // not read after its end
      used.insert(id);
    }
    for (const auto& id : produced_by(u, shape)) {
      if (id.kind != block_kind::gradients && id.kind != block_kind::loss) {
        used.insert(id);
      }
    }
    for (const auto& id : consumed_by(u, shape)) {
      ++consumed[id];
    }
  }
  for (const auto& id : used) {
    INFO(to_string(id));
    CHECK(consumed[id] == 1);
  }
}

TEST_CASE("each shard leaves gradients once a step, the last one the loss") {
  std::map<std::uint32_t, int> gradients;
  int losses = 0;
  for (const auto& u : step_of(of_shards(4))) {
    gradients[u.shard.value] += has_gradients(u) ? 1 : 0;
    losses += has_loss(u, of_shards(4)) ? 1 : 0;
  }
  CHECK(gradients == std::map<std::uint32_t, int>{{0, 1}, {1, 1}, {2, 1}, {3, 1}});
  CHECK(losses == 1);
}

TEST_CASE("below the first trained shard nothing is visited backwards, and boundaries end with their forward visit") {
  const step_shape shape{.shards = 4, .first_trained = 2};
  const auto units = step_of(shape);
  std::vector<std::string> all;
  std::ranges::transform(units, std::back_inserter(all), [](const unit& u) {
    return (u.way == direction::forward ? "F" : "B") + std::to_string(u.shard.value);
  });
  CHECK(all == std::vector<std::string>{"F0", "F1", "F2", "B3", "B2"});
  CHECK(consumed_by(units[0], shape) == std::vector{inputs_of(units[0], shape, {}).input});
  CHECK(consumed_by(units[1], shape) == std::vector{*output_of(units[0], shape, {})});
  CHECK(consumed_by(units[2], shape).empty());  // the backward visit reads its input again
  CHECK_FALSE(output_of(units[4], shape, {}));
  CHECK(ends_step(units[4], shape));
  CHECK_FALSE(ends_step(units[3], shape));
  CHECK(base_of(units[0]) == base_of(step_of(shape, 5)[0]));  // no version
}

TEST_CASE("the gradient sum of a shard passes from wave to wave of its replica") {
  const step_graph graph({.shards = 2, .micro_batches = 6, .replicas = 2, .waves = 3});
  for (std::uint32_t lane = 0; lane < graph.lanes(); ++lane) {
    const auto first = lane * graph.lane_length();
    const auto u = graph.at(first + 2);  // B_0
    CHECK_FALSE(sum_before(graph.at(first)));
    if (u.wave.value == 0) {
      CHECK_FALSE(sum_before(u));
    } else {
      const auto before = gradients_of(graph.at(first + 2 - graph.lane_length()));
      CHECK(sum_before(u) == before);
      CHECK(consumed_by(u, of_shards(2)).back() == before);
    }
  }
}

TEST_CASE("block names derive from the unit: model, step, shard and micro-batch, never the attempt") {
  auto u = step_of({.shards = 3, .micro_batches = 2})[1];  // forward 1
  const auto in = inputs_of(u, of_shards(3), micro_batch_index{1});
  CHECK(to_string(in.input) == "activation of model 2 shard 0 step 3 micro-batch 1");
  CHECK(to_string(*output_of(u, of_shards(3), micro_batch_index{1})) ==
        "activation of model 2 shard 1 step 3 micro-batch 1");
  CHECK(to_string(parameters_of(u)) == "parameters of model 2 shard 1 version 3");
  const auto before = produced_by(u, of_shards(3));
  u.attempt = 4;
  CHECK(produced_by(u, of_shards(3)) == before);
}

TEST_CASE("a visit of a later range of micro-batches names that range") {
  auto u = step_of({.shards = 2, .micro_batches = 2})[0];
  u.first_micro_batch = micro_batch_index{4};
  CHECK(produced_by(u, of_shards(2))[1].micro_batch == micro_batch_index{5});
}

TEST_CASE("evaluation shares parameters with training and nothing else") {
  auto train = step_of(of_shards(3))[0];
  auto evaluate = train;
  evaluate.way = direction::evaluate;
  CHECK(parameters_of(train) == parameters_of(evaluate));
  CHECK(output_of(train, of_shards(3), {}) != output_of(evaluate, of_shards(3), {}));
  CHECK_FALSE(has_gradients(evaluate));
  CHECK(consumed_by(evaluate, of_shards(3)).size() == 1);
  CHECK_FALSE(ends_step(evaluate, {}));
}

TEST_CASE("the last shard's evaluation reads targets and leaves a loss named by its range, but no boundary") {
  auto u = step_of(of_shards(3))[0];
  u.way = direction::evaluate;
  u.shard = shard_index{2};
  u.first_micro_batch = micro_batch_index{4};
  u.micro_batches = 2;
  CHECK_FALSE(output_of(u, of_shards(3), micro_batch_index{4}));
  CHECK(inputs_of(u, of_shards(3), micro_batch_index{5}).second->kind == block_kind::targets);
  CHECK(produced_by(u, of_shards(3)) == std::vector{loss_of(u)});
  CHECK(loss_of(u).micro_batch == micro_batch_index{4});
  CHECK(consumed_by(u, of_shards(3)).size() == 4);
  CHECK(batch_of(u, 8) == batch_range{pass_kind::evaluation, u.step, micro_batch_index{4}, 2});
  u.way = direction::backward;
  CHECK(batch_of(u, 8) == batch_range{pass_kind::train, u.step, {}, 8});
}
