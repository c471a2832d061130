#include "partition/plan/shared_bases.hpp"

#include "partition/plan/plan_outline.hpp"
#include "runtime/memory/host_arena.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;

/// Shards of these layers, each with a base of 100 bytes but the last.

namespace shared_bases_test {

model_plan plan_with(const cut_points& cuts, std::size_t layers) {
  model_plan plan;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    shard_plan s;
    s.first_layer = cuts[i];
    s.last_layer = last_layer(cuts, i, layers);
    s.base = s.last_layer < layers ? 100_B : 0_B;
    plan.shards.push_back(s);
  }
  return plan;
}

/// Of six layers, of which all have frozen parameters.
std::vector<std::string> content(const std::string& text) { return std::vector<std::string>(6, text); }

base_place place(std::uint32_t model, std::uint32_t shard) { return {model_id{model}, shard_index{shard}}; }

TEST_CASE("bases of the same origin and layers have one name, that of the first shard", "[shared]") {
  known_bases known;
  std::vector models{plan_with({0, 2, 4}, 6), plan_with({0, 1, 2, 4}, 6), plan_with({0, 2, 4}, 6),
                     plan_with({0, 2, 4}, 6)};
  name_bases(models[0], content("a"), model_id{0}, known);
  name_bases(models[1], content("a"), model_id{1}, known);
  name_bases(models[2], content("b"), model_id{2}, known);
  name_bases(models[3], {}, model_id{3}, known);
  CHECK(models[0].shards[0].shared_base == place(0, 0));
  CHECK(models[1].shards[0].shared_base == place(1, 0));  // other layers
  CHECK(models[1].shards[2].shared_base == place(0, 1));
  CHECK(models[2].shards[0].shared_base == place(2, 0));
  CHECK_FALSE(models[3].shards[0].shared_base);
  CHECK_FALSE(models[0].shards[2].shared_base);  // nothing is frozen there
  CHECK(base_bytes(models) == host_charge(100_B) * (2 + 2 + 2 + 2));
}

TEST_CASE("a unit reads the base under its common name, whatever its place in the model", "[shared]") {
  known_bases known;
  auto first = plan_with({0, 2, 4}, 6), second = plan_with({0, 1, 2, 4}, 6);
  name_bases(first, content("a"), model_id{0}, known);
  name_bases(second, content("a"), model_id{1}, known);
  unit u;
  u.model = model_id{1};
  u.shard = shard_index{2};
  second.shards[2].base = 70_B;
  const auto graphs = graphs_of(second);
  const auto& step = graphs->step;
  const auto& reads = step.at(step.find(u).value()).reads;
  const auto base = std::ranges::find(reads, block_role::base, &block_use::role);
  REQUIRE(base != reads.end());
  const auto id = step.name({base->block}, model_graphs::turn_of(u));
  CHECK(id.model == model_id{0});
  CHECK(id.shard == shard_index{1});
  CHECK(step.block(base->block).bytes == 70_B);
}

}  // namespace shared_bases_test
