#include "actors/admission/parallel_choices.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>

using namespace hydra;

namespace {

model_description of(std::uint32_t micro_batches, parallel_options parallel = {}) {
  model_description m;
  m.micro_batches = micro_batches;
  m.parallel = parallel;
  return m;
}

using pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Replicas and waves of the first model, as few shards as fit.
pairs pairs_of(std::span<const parallel_choice> choices) {
  pairs all;
  for (const auto& choice : choices) {
    const auto& [parallel, shards] = choice.models.front();
    if (shards == 1) {
      all.emplace_back(parallel.replicas, parallel.waves);
    }
  }
  return all;
}

pairs choices_of(const model_description& m, std::size_t devices) {
  return pairs_of(parallel_choices(std::vector{m}, devices));
}

/// Of the first model, of those with that division.
std::vector<std::size_t> shards_of(std::span<const parallel_choice> choices, parallel_options parallel) {
  std::vector<std::size_t> all;
  for (const auto& choice : choices) {
    if (choice.models.front().parallel == parallel) {
      all.push_back(choice.models.front().shards);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a step is compared as it is, whole, in replicas, and in waves that keep all devices busy") {
  CHECK(choices_of(of(8), 2) == pairs{{1, 1}, {2, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 2}, {2, 4}});
  CHECK(choices_of(of(8, {.replicas = 4, .waves = 2}), 2) ==
        pairs{{4, 2}, {1, 1}, {2, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 2}, {2, 4}});
}

TEST_CASE("replicas and waves divide the micro-batches, and there are at most twelve choices") {
  CHECK(choices_of(of(1), 4) == pairs{{1, 1}});
  CHECK(choices_of(of(4), 1) == pairs{{1, 1}});
  CHECK(choices_of(of(3), 2) == pairs{{1, 1}, {1, 3}});
  for (const std::uint32_t k : {6u, 12u, 96u}) {
    const auto all = choices_of(of(k), 8);
    CHECK(all.size() <= 12);
    for (const auto& [replicas, waves] : all) {
      CHECK(k % (replicas * waves) == 0);
    }
    auto each = all;
    std::ranges::sort(each);
    CHECK(std::ranges::adjacent_find(each) == each.end());
  }
}

TEST_CASE("numbers that are chosen are kept, and what is left open is varied") {
  const auto open = [](parallel_options given) { return pairs_of(open_choices(std::vector{of(8, given)}, 2)); };
  CHECK(open({.replicas = 1, .waves = 1}) == pairs{{1, 1}});
  CHECK(open({.replicas = 0, .waves = 1}) == pairs{{1, 1}, {2, 1}});
  CHECK(open({.replicas = 2, .waves = 0}) == pairs{{2, 1}, {2, 2}, {2, 4}});
  CHECK(open({.replicas = 0, .waves = 8}) == pairs{{1, 8}});  // two replicas have only four micro-batches each
  CHECK(open({.replicas = 0, .waves = 0}) == pairs{{1, 1}, {2, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 2}, {2, 4}});
}

TEST_CASE("a model whose micro-batches cannot be divided like the others' is divided as far as possible") {
  CHECK(divided(6, {.replicas = 4, .waves = 2}).replicas == 2);
  CHECK(divided(6, {.replicas = 4, .waves = 2}).waves == 1);
  const std::vector models{of(8), of(3)};
  for (const auto& choice : parallel_choices(models, 2)) {
    const auto& [replicas, waves] = choice.models.at(0).parallel;
    CHECK(choice.models.at(1).parallel.replicas == 1);
    CHECK(8 % (replicas * waves) == 0);
  }
}

TEST_CASE("a pipeline is compared with as few shards as fit, with one and with two for each device") {
  const std::vector models{of(8)};
  const auto all = parallel_choices(models, 4);
  CHECK(shards_of(all, {1, 1}) == std::vector<std::size_t>{1});
  CHECK(shards_of(all, {4, 1}) == std::vector<std::size_t>{1});
  CHECK(shards_of(all, {1, 4}) == std::vector<std::size_t>{1, 4, 8});
  CHECK(shards_of(all, {2, 4}) == std::vector<std::size_t>{1, 2, 4});
}

TEST_CASE("the planner chooses the number of shards with the waves, of a model that leaves both to it") {
  const auto shards = [](std::uint32_t waves, cut_choice cuts) {
    auto m = of(8, {.replicas = 1, .waves = waves});
    m.cuts = std::move(cuts);
    auto all = shards_of(open_choices(std::vector{m}, 4), {1, 4});
    std::ranges::sort(all);
    return all;
  };
  CHECK(shards(0, balanced_cut{}) == std::vector<std::size_t>{1, 2, 4, 8});
  CHECK(shards(0, balanced_cut{.shards = 3}) == std::vector<std::size_t>{3});
  CHECK(shards(0, cut_points{0, 1}) == std::vector<std::size_t>{1});
  CHECK(shards(0, greedy_cut{}) == std::vector<std::size_t>{1});
  CHECK(shards(4, balanced_cut{}) == std::vector<std::size_t>{1});
}

TEST_CASE("finer cuts have up to four times as many shards, of models that the planner cuts and of one lane") {
  std::vector models{of(8), of(8, {.replicas = 1, .waves = 2}), of(8)};
  models[2].cuts = cut_points{0, 1, 2};
  workload_plan plan;
  plan.models.resize(3);
  for (std::size_t i = 0; i < 3; ++i) {
    plan.models[i].shards.resize(3);
    plan.models[i].waves = models[i].parallel.waves;
  }
  std::vector<std::size_t> first;
  for (const auto& choice : finer_choices(models, plan)) {
    first.push_back(choice.models[0].shards);
    CHECK(choice.models[1].shards == 1);
    CHECK(choice.models[2].shards == 1);
  }
  CHECK(first == std::vector<std::size_t>{1, 5, 6, 9, 12});
}
