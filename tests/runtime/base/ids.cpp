#include "runtime/base/ids.hpp"

#include <catch2/catch.hpp>

#include <type_traits>
#include <unordered_set>

using namespace hydra;

static_assert(!std::is_convertible_v<model_id, shard_index> && !std::is_constructible_v<model_id, shard_index>);
static_assert(!std::is_convertible_v<std::uint32_t, model_id>);

TEST_CASE("ids count up from zero and compare by value") {
  REQUIRE(model_id{} == model_id{0});
  REQUIRE(model_id{3}.next() == model_id{4});
  REQUIRE(step_index{3} < step_index{10});
}

TEST_CASE("ids are keys of hash tables") {
  const std::unordered_set<device_id> set{device_id{1}, device_id{2}, device_id{1}};
  REQUIRE(set.size() == 2);
  REQUIRE(set.contains(device_id{2}));
}
