#include "partition/execute/sharded_model.hpp"

#include "tests/support/small_models.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace {

const std::string& name_of(const std::vector<shard>& shards, std::size_t s, std::size_t i) {
  return shards.at(s).layout().parameters().at(i).name;
}

}  // namespace

TEST_CASE("shards cover the chain from cut to cut") {
  const auto m = small_mlp({.layers = 3, .width = 4});
  const auto shards = make_shards(m.body, {0, 1, 3});
  REQUIRE(shards.size() == 3);
  CHECK(shards[0].first());
  CHECK(shards[2].last());
  CHECK_FALSE(shards[1].first());
  CHECK_FALSE(shards[1].last());
  CHECK(shards[1].layout().parameters().size() == 4);  // weight and bias of layers 1 and 2
}

TEST_CASE("ties name owner and tied copy, wherever the cuts put them") {
  const auto m = small_gpt({.layers = 1, .width = 8, .heads = 2, .context = 6, .tied = true});
  for (const auto& cuts : {cut_points{0}, cut_points{0, 2}, cut_points{0, 1, 2}}) {
    const auto shards = make_shards(m.body, cuts);
    const auto ties = find_ties(shards);
    REQUIRE(ties.size() == 1);
    CHECK(ties[0].owner_shard == 0);
    CHECK(ties[0].copy_shard + 1 == cuts.size());
    CHECK(name_of(shards, ties[0].owner_shard, ties[0].owner) == "wte.weight");
    CHECK(name_of(shards, ties[0].copy_shard, ties[0].copy) == "lm_head.weight");
  }
}

TEST_CASE("an untied chain has no ties") {
  const auto m = small_gpt({.layers = 1, .width = 8, .heads = 2, .context = 6, .tied = false});
  CHECK(find_ties(make_shards(m.body, {0, 2})).empty());
}
