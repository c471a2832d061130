#include "partition/plan/saving_cuts.hpp"

#include "tests/support/random_profile.hpp"
#include "tests/support/small_models.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using namespace hydra::literals;
using namespace std::chrono_literals;

namespace {

/// Eight equal layers: 1 KiB of parameters, 10 KiB saved, 1 ms forward, 3 ms with recomputation.
chain_profile even_profile() {
  const layer_profile layer{.kind = "even",
                            .parameters = 1_KiB,
                            .input = 512_B,
                            .output = 512_B,
                            .input_spec = {{128}, element::f32},
                            .output_spec = {{128}, element::f32},
                            .saved = 10_KiB,
                            .forward_transient = {},
                            .backward_transient = 512_B,
                            .forward = 1ms,
                            .backward = 3ms};
  chain_profile p{.layers = std::vector<layer_profile>(8, layer),
                  .targets = 512_B,
                  .target_spec = {{128}, element::f32},
                  .loss_transient = {},
                  .loss_saved = {},
                  .samples = 1};
  return p;
}

struct even_request {
  std::shared_ptr<const chain> model = idle_chain(8);
  chain_profile profile = even_profile();
  plan_request request{.name = "even",
                       .model = model.get(),
                       .profile = &profile,
                       .cuts = balanced_cut{},
                       .stepping = {.gaps_are_filled = true}};
};

cut_set best_for(const plan_request& r, byte_count usable) { return staging_search({&r, 1}, usable).best().value(); }

}  // namespace

TEST_CASE("room for saved tensors spares the recomputation of the last shards, but of the very last") {
  const even_request e;
  const cut_points cuts{0, 2, 4, 6};
  CHECK(saved_time(e.request, cuts, 0_B) == 0ms);
  CHECK(saved_time(e.request, cuts, 20_KiB - 1_B) == 0ms);
  CHECK(saved_time(e.request, cuts, 20_KiB) == 2ms);
  CHECK(saved_time(e.request, cuts, 60_KiB) == 6ms);
  CHECK(saved_time(e.request, cuts, 1_MiB) == 6ms);
}

TEST_CASE("single micro-batches are saved") {
  even_request e;
  e.request.micro_batches = 4;
  CHECK(saved_time(e.request, {0, 4}, 40_KiB) == 4ms);
  CHECK(saved_time(e.request, {0, 4}, 90_KiB) == 8ms);
}

TEST_CASE("shards are shorter where that leaves room for what they save") {
  const even_request e;
  const auto usable = 70_KiB;
  const auto longest = best_for(e.request, usable);
  const auto chosen = saving_cuts({&e.request, 1}, usable, longest);
  CHECK(chosen.cuts[0].size() > longest.cuts[0].size());
  const auto demand = demand_of(e.profile, chosen.cuts[0]);
  CHECK(demand.staging + demand.computing < usable);
  const auto room = usable - demand.staging - demand.computing;
  CHECK(saved_time(e.request, chosen.cuts[0], room) > 0ms);
}

TEST_CASE("with all memory needed for the longest shards cuts stay as they are") {
  const even_request e;
  const auto least = staging_search({&e.request, 1}, 1_MiB).least().value();
  const auto only = best_for(e.request, least);
  CHECK(saving_cuts({&e.request, 1}, least, only).cuts == only.cuts);
}

TEST_CASE("cuts by the paper's rule stay as they are") {
  even_request e;
  e.request.cuts = greedy_cut{};
  const auto filled = best_for(e.request, 70_KiB);
  CHECK(saving_cuts({&e.request, 1}, 70_KiB, filled).cuts == filled.cuts);
}

TEST_CASE("a model alone is cut so that only its first shard's update is waited for") {
  const auto model = small_mlp({.layers = 5, .width = 64});
  const auto profile = profile_of(model, 8);
  plan_request r{.name = "mlp", .model = model.body.get(), .profile = &profile, .cuts = balanced_cut{}};
  r.stepping = {.link = byte_rate{1e6}, .gaps_are_filled = false};
  const auto whole = best_for(r, 64_MiB);
  REQUIRE(whole.cuts[0].size() == 1);
  CHECK(saving_cuts({&r, 1}, 64_MiB, whole).cuts[0].size() > 1);
  r.stepping.gaps_are_filled = true;
  CHECK(saving_cuts({&r, 1}, 64_MiB, whole).cuts[0].size() == 1);
}
