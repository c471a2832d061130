#include "models/optimizer/matrix_product.hpp"
#include "partition/plan/plan.hpp"

#include "runtime/memory/host_arena.hpp"
#include "tests/support/small_models.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace {

model_plan plan_with(std::uint32_t micro_batches) {
  const auto m = small_mlp({.layers = 3, .width = 64});
  return cut_model(m, {.cuts = {0, 1, 2}, .micro_batches = micro_batches, .samples = 4})->plan;
}

}  // namespace

TEST_CASE("every device adds the same write-back bytes to the host's demand") {
  const std::vector<model_plan> models{plan_with(2)};
  const auto one = host_demand(models, 1);
  const auto each = host_demand(models, 2) - one;
  CHECK(each > byte_count{});
  CHECK(host_demand(models, 5) == one + each * 4);
}

TEST_CASE("the host's demand grows with models and micro-batches") {
  const std::vector<model_plan> one{plan_with(1)};
  const std::vector<model_plan> two{plan_with(1), plan_with(1)};
  const std::vector<model_plan> streaming{plan_with(4)};
  CHECK(host_demand(two, 1) > host_demand(one, 1));
  CHECK(host_demand(streaming, 1) > host_demand(one, 1));
}

TEST_CASE("the host's demand covers parameters, gradients, moments and the write-back of a visit") {
  const auto plan = plan_with(1);
  byte_count least;
  byte_count largest;
  for (const auto& s : plan.shards) {
    least += host_charge(s.parameters) * 2 + host_charge(s.moments.at(0)) * 2;
    largest = std::max(largest, host_charge(s.parameters));
  }
  CHECK(host_demand(std::vector{plan}, 1) > least + largest);
}

TEST_CASE("a micro-batch more is a boundary of each shard more, three of the largest one, and its samples twice") {
  const auto one = plan_with(1);
  byte_count boundaries, largest;
  for (const auto& s : one.shards) {
    boundaries += host_charge(s.output);
    largest = std::max(largest, host_charge(s.output));
  }
  const auto samples = host_charge(one.shards.front().input) + host_charge(one.shards.back().targets);
  CHECK(host_transfers(std::vector{plan_with(2)}, 0) ==
        host_transfers(std::vector{one}, 0) + boundaries + largest * 3 + samples * 2);
}

TEST_CASE("all that the host needs is transferred but the moments") {
  const std::vector<model_plan> models{plan_with(1), plan_with(3)};
  byte_count moments;
  for (const auto& m : models) {
    for (const auto& s : m.shards) moments += host_charge(s.moments.at(0)) * 2;
  }
  for (const std::size_t devices : {1, 4}) {
    CHECK(host_transfers(models, devices) + moments == host_demand(models, devices));
  }
}

TEST_CASE("the host's demand covers the scratch of as many of muon's steps as run at a time") {
  const auto m = small_mlp({.layers = 4, .width = 64});
  auto plan = cut_model(m, {.cuts = {0, 1, 2, 3, 4}, .samples = 4, .update = muon({})})->plan;
  // The direction, its products with itself, their polynomial, a thread's panel, a row.
  const byte_count each{3 * 64 * 64 * sizeof(float) + product_scratch(64) + 64 * sizeof(float)};
  CHECK(plan.shards[0].update_scratch == byte_count{});
  CHECK(plan.shards[1].update_scratch == each);
  CHECK(plan.shards[4].update_scratch == byte_count{});
  const auto demand_on = [&](int threads) {
    plan.update_threads = threads;
    return host_demand(std::vector{plan}, 1);
  };
  CHECK(demand_on(2) == demand_on(1) + each);
  CHECK(demand_on(8) == demand_on(1) + each * 2);
  const auto narrow =
      cut_model(rounded(m, precision::bf16), {.cuts = {0, 1, 2, 3, 4}, .samples = 4, .update = muon({})})->plan;
  CHECK(narrow.shards[1].update_scratch == each + byte_count{64 * 64 * sizeof(float)});  // of the widened gradient
}

TEST_CASE("gradients in bf16 are written back in half the bytes; nothing is kept for them") {
  const auto m = small_mlp({.layers = 3, .width = 64});
  const auto wide = cut_model(rounded(m), {.cuts = {0, 1, 2}, .samples = 4})->plan;
  const auto narrow = cut_model(rounded(m, precision::bf16), {.cuts = {0, 1, 2}, .samples = 4})->plan;
  byte_count saved;
  for (std::size_t s = 0; s < 3; ++s) {
    CHECK(narrow.shards[s].gradient_bytes() * 2 == wide.shards[s].gradient_bytes());
    saved += host_charge(wide.shards[s].gradient_bytes()) - host_charge(narrow.shards[s].gradient_bytes());
  }
  CHECK(host_transfers(std::vector{narrow}, 0) + saved == host_transfers(std::vector{wide}, 0));
  CHECK(host_demand(std::vector{narrow}, 2) + saved <
        host_demand(std::vector{wide}, 2));  // attempts are written back, too
}

TEST_CASE("in bf16 the host keeps fp32 masters and gradients, and in addition what is promoted") {
  const auto m = rounded(small_mlp({.layers = 3, .width = 64}));
  const auto plan = cut_model(m, {.cuts = {0, 1, 2}, .samples = 4})->plan;
  byte_count rests;
  for (const auto& s : plan.shards) {
    rests += host_charge(s.parameters) + host_charge(s.parameters * 2) * 3;  // masters, two moments
  }
  CHECK(host_demand(std::vector{plan}, 0) >= rests);
}
