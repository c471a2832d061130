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

/// Replicas and waves of the first model.
pairs choices_of(const model_description& m, std::size_t devices) {
  pairs all;
  for (const auto& choice : parallel_choices(std::vector{m}, devices)) {
    all.emplace_back(choice.models.front().replicas, choice.models.front().waves);
  }
  return all;
}

}  // namespace

TEST_CASE("a step is compared as it is, whole, in replicas, and in waves that keep all devices busy") {
  CHECK(choices_of(of(8), 2) == pairs{{1, 1}, {2, 1}, {1, 2}, {1, 4}, {2, 2}});
  CHECK(choices_of(of(8, {.replicas = 4, .waves = 2}), 2) == pairs{{4, 2}, {1, 1}, {2, 1}, {1, 2}, {1, 4}, {2, 2}});
}

TEST_CASE("replicas and waves divide the micro-batches, and there are at most eight choices") {
  CHECK(choices_of(of(1), 4) == pairs{{1, 1}});
  CHECK(choices_of(of(4), 1) == pairs{{1, 1}});
  CHECK(choices_of(of(3), 2) == pairs{{1, 1}, {1, 3}});
  for (const std::uint32_t k : {6u, 12u, 96u}) {
    const auto all = choices_of(of(k), 8);
    CHECK(all.size() <= 8);
    for (const auto& [replicas, waves] : all) {
      CHECK(k % (replicas * waves) == 0);
    }
    auto each = all;
    std::ranges::sort(each);
    CHECK(std::ranges::adjacent_find(each) == each.end());
  }
}

TEST_CASE("numbers that are chosen are kept, and what is left open is varied") {
  const auto open = [](parallel_options given) {
    pairs all;
    for (const auto& choice : open_choices(std::vector{of(8, given)}, 2)) {
      all.emplace_back(choice.models.front().replicas, choice.models.front().waves);
    }
    return all;
  };
  CHECK(open({.replicas = 1, .waves = 1}) == pairs{{1, 1}});
  CHECK(open({.replicas = 0, .waves = 1}) == pairs{{1, 1}, {2, 1}});
  CHECK(open({.replicas = 2, .waves = 0}) == pairs{{2, 1}, {2, 2}, {2, 4}});
  CHECK(open({.replicas = 0, .waves = 8}) == pairs{{1, 8}});  // two replicas have only four micro-batches each
  CHECK(open({.replicas = 0, .waves = 0}) == pairs{{1, 1}, {2, 1}, {1, 2}, {1, 4}, {2, 2}});
}

TEST_CASE("a model whose micro-batches cannot be divided like the others' is divided as far as possible") {
  CHECK(divided(6, {.replicas = 4, .waves = 2}).replicas == 2);
  CHECK(divided(6, {.replicas = 4, .waves = 2}).waves == 1);
  const std::vector models{of(8), of(3)};
  for (const auto& choice : parallel_choices(models, 2)) {
    CHECK(choice.models.at(1).replicas == 1);
    CHECK(8 % (choice.models.at(0).replicas * choice.models.at(0).waves) == 0);
  }
}
