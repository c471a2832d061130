#include "partition/plan/plan.hpp"

#include "partition/plan/plan_outline.hpp"
#include "partition/plan/sufficient.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/small_models.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <regex>

using namespace hydra;
using namespace hydra::test;
using namespace hydra::literals;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

/// A wide and a deep model, profiled once.
struct workload {
  std::vector<small_model> models{small_gpt({.layers = 4, .width = 32, .heads = 2, .context = 8, .tied = false}),
                                  small_mlp({.layers = 5, .width = 48})};
  std::vector<chain_profile> profiles{profile_of(models[0], 2), profile_of(models[1], 8)};
  std::vector<plan_request> requests;

  workload() {
    for (std::size_t i = 0; i < models.size(); ++i) {
      requests.push_back({.name = "model-" + std::to_string(i),
                          .model = models[i].body.get(),
                          .profile = &profiles[i],
                          .micro_batches = 2,
                          .rule = adamw({}),
                          .cuts = greedy_cut{}});
    }
  }
};

workload& both() {
  static workload w;
  return w;
}

workload_plan plan_on(std::span<const plan_request> requests, byte_count memory, byte_count reserve = {}) {
  const std::vector<device_info> devices{{.name = "cpu:0", .memory = memory, .reserve = reserve}};
  return make_plan(requests, devices);
}

/// The number of bytes that a refusal names.
byte_count sufficient_for(std::span<const plan_request> requests, byte_count reserve = {}) {
  try {
    plan_on(requests, 1_KiB, reserve);
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::does_not_fit);
    std::smatch found;
    const auto text = e.what_happened().text;
    REQUIRE(std::regex_search(text, found, std::regex(R"(smallest sufficient memory .*\((\d+) bytes\))")));
    return byte_count{std::stoull(found[1])};
  }
  FAIL("1 KiB was enough");
  return {};
}

/// max (P + C) + max W, recomputed from the shards.
byte_count needed(const workload_plan& plan) {
  byte_count staging, computing;
  for (const auto& m : plan.models) {
    for (const auto& s : m.shards) {
      for (const auto& f : {s.forward, s.backward}) {
        staging = std::max(staging, f.parameters + f.first_inputs);
        computing = std::max(computing, f.parameters + f.working);
      }
    }
  }
  return staging + computing;
}

}  // namespace

TEST_CASE("every plan fits its device: max (P + C) + max W + reserve <= M, whatever M") {
  const auto& requests = both().requests;
  const auto least = sufficient_for(requests);
  std::mt19937_64 random(3);
  for (int i = 0; i < 100; ++i) {
    const byte_count reserve{random() % 3 == 0 ? 0 : random() % 100000};
    const auto memory = least + reserve + byte_count{random() % (4 * least.value())};
    const auto plan = plan_on(requests, memory, reserve);
    CHECK(needed(plan) + reserve <= memory);
    CHECK(needed(plan) == plan.staging_bytes + plan.computing_bytes);
  }
}

TEST_CASE("more memory never means more shards") {
  const auto& requests = both().requests;
  const auto least = sufficient_for(requests);
  std::size_t before = 1000;
  for (int i = 0; i < 12; ++i) {
    std::size_t shards = 0;
    for (const auto& m : plan_on(requests, least + byte_count{least.value() * i / 3}).models) {
      shards += m.shards.size();
    }
    CHECK(shards <= before);
    before = shards;
  }
  CHECK(before == 2);
}

TEST_CASE("the sufficient memory that a refusal names is sufficient, and a byte less is not") {
  const auto& requests = both().requests;
  const byte_count reserve = GENERATE(0_KiB, 3_KiB);
  const auto least = sufficient_for(requests, reserve);
  CHECK_NOTHROW(plan_on(requests, least, reserve));
  CHECK_THROWS_AS(plan_on(requests, least - 1_B, reserve), fault_error);
}

TEST_CASE("the sufficient memory holds for given cuts, too") {
  auto requests = both().requests;
  requests[0].cuts = cut_points{0, 3};
  const auto least = sufficient_for(requests);
  CHECK(least > sufficient_for(both().requests));
  CHECK(plan_on(requests, least).models[0].cuts() == cut_points{0, 3});
  CHECK_THROWS_AS(plan_on(requests, least - 1_B), fault_error);
}

TEST_CASE("given cuts are kept although fewer shards would fit") {
  auto requests = both().requests;
  requests[1].cuts = cut_points{0, 1, 5};
  const auto plan = plan_on(requests, 1_GiB);
  CHECK(plan.models[0].cuts() == cut_points{0});
  CHECK(plan.models[1].cuts() == cut_points{0, 1, 5});
  CHECK(plan.models[1].shards[1].last_layer == 5);
}

TEST_CASE("a refusal names the device, the model and the layer that asks for most") {
  CHECK_THROWS_WITH(plan_on(both().requests, 1_KiB), Contains("device cpu:0") && Contains("1.0 KiB") &&
                                                         Contains("model 'model-0'") &&
                                                         Contains("(transformer block) needs"));
  auto requests = both().requests;
  requests[0].cuts = cut_points{0, 2};
  CHECK_THROWS_WITH(plan_on(requests, 1_KiB), Contains("shard 1 (layers 2 to 5)"));
}

TEST_CASE("a refusal says of every model which layer asks for most, its bytes and what the model alone would need") {
  const auto& requests = both().requests;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto alone = std::to_string(smallest_budget({&requests[i], 1}).value());
    CHECK_THROWS_WITH(plan_on(requests, 1_KiB), Contains("of model 'model-" + std::to_string(i) + "' (") &&
                                                    Contains("needs memory = ") && Contains("(" + alone + " bytes)"));
  }
}

TEST_CASE("a refusal counts models that cost the same instead of repeating them") {
  const std::vector<plan_request> grid(40, both().requests[0]);
  CHECK_THROWS_WITH(plan_on(grid, 1_KiB), Contains("any of the 40 models like it") && !Contains("alone the model"));
}

TEST_CASE("a refusal of one model names its largest layer once") {
  const auto& requests = both().requests;
  CHECK_THROWS_WITH(plan_on(std::vector{requests[0]}, 1_KiB),
                    Contains("(transformer block) needs") && !Contains("Model by model"));
}

TEST_CASE("the device with the least usable memory decides the cut") {
  const auto least = sufficient_for(both().requests);
  const std::vector<device_info> devices{{.name = "a", .memory = 1_GiB},
                                         {.name = "b", .memory = least + 4_KiB, .reserve = 4_KiB}};
  CHECK(needed(make_plan(both().requests, devices)) == least);
  const std::vector<device_info> less{devices[0], {.name = "b", .memory = least + 3_KiB, .reserve = 4_KiB}};
  CHECK_THROWS_WITH(make_plan(both().requests, less), Contains("device b"));
  CHECK_THROWS_WITH(make_plan(both().requests, {}), Contains("no device"));
}

TEST_CASE("the graph of a plan knows the size of every block, the plan the footprint and time of every unit") {
  auto requests = both().requests;
  requests[0].cuts = cut_points{0, 2};
  const auto m = plan_on(requests, 1_GiB).models[0];
  const auto graphs = graphs_of(m);
  const auto bytes = [&](block_kind kind, std::uint32_t s) {
    const block_id id{
        .model = {}, .replica = {}, .step = {}, .kind = kind, .shard = shard_index{s}, .micro_batch = {}};
    return graphs->step.block(graphs->step.find(id, {}).value().block).bytes;
  };
  CHECK(bytes(block_kind::minibatch, 0) == byte_count{2 * 8 * 8});         // samples, tokens, i64
  CHECK(bytes(block_kind::activation, 0) == byte_count{2 * 8 * 32 * 4});   // samples, tokens, width, fp32
  CHECK(bytes(block_kind::upstream, 0) == bytes(block_kind::activation, 0));
  CHECK(bytes(block_kind::targets, 1) == byte_count{2 * 8 * 8});
  CHECK(bytes(block_kind::loss, 1) == byte_count{2 * 4});                  // of both micro-batches, fp32
  CHECK(bytes(block_kind::gradients, 1) == bytes(block_kind::parameters, 1));
  unit u;
  u.micro_batches = 2;
  CHECK(&m.footprint_of(u) == &m.shards[0].forward);
  CHECK(m.time_of(u) == m.shards[0].forward_time);
  u.way = direction::backward;
  CHECK(&m.footprint_of(u) == &m.shards[0].backward);
  CHECK(m.time_of(u) == m.shards[0].backward_time);
  u.micro_batches = 1;
  CHECK(m.time_of(u) == m.shards[0].backward_time / 2);
}

TEST_CASE("a backward visit is expected to compute again what there is no room to save, and nothing else") {
  model_plan m;
  m.micro_batches = 2;
  m.shards.resize(3);
  for (auto& s : m.shards) {
    s.forward_time = 2ms;
    s.backward_time = 6ms;
    s.saved = 1_KiB;
  }
  m.shards.back().saved = {};  // its forward visit is part of its backward visit
  unit u;
  u.way = direction::backward;
  u.micro_batches = 2;
  const auto expected = [&](byte_count room, std::uint32_t shard) {
    m.saving_room = room;
    u.shard = shard_index{shard};
    return m.expected_time_of(u);
  };
  CHECK(expected({}, 0) == 6ms);
  CHECK(expected(2_KiB, 0) == 5ms);  // half of what the micro-batches of both shards save
  CHECK(expected(4_KiB, 1) == 4ms);
  CHECK(expected(64_KiB, 1) == 4ms);
  CHECK(expected(64_KiB, 2) == 6ms);
  u.way = direction::forward;
  CHECK(expected(64_KiB, 0) == 2ms);
}

TEST_CASE("host memory that is too small is refused with the bytes that are needed") {
  const auto plan = plan_on(both().requests, 1_GiB);
  CHECK_NOTHROW(check_host(plan, plan.host_needed));
  CHECK_THROWS_WITH(check_host(plan, plan.host_needed - 1_B),
                    Contains("(" + std::to_string(plan.host_needed.value()) + " bytes) of host memory") &&
                        !Contains("replicas"));
}

TEST_CASE("host memory that is too small for the gradient sums of replicas is refused with their bytes") {
  auto requests = both().requests;
  for (auto& m : requests) {
    m.micro_batches = 4;
  }
  const auto one = plan_on(requests, 1_GiB).host_needed;
  requests[0].replicas = 4;
  const auto plan = plan_on(requests, 1_GiB);
  REQUIRE(plan.host_needed > one);
  CHECK_THROWS_WITH(check_host(plan, one),
                    Contains("use fewer replicas or waves (with gradient sums of their own they take "));
}

TEST_CASE(
    "a model that joins a run is cut for the run's staging bytes, or refused with the needed and the available bytes") {
  const auto& requests = both().requests;
  const auto least = sufficient_for(requests);
  for (std::uint64_t part = 0; part <= 8; ++part) {
    const std::vector<device_info> devices{
        {.name = "cpu:0", .memory = least + byte_count{least.value() * part / 4}}};
    const auto run = make_plan(std::span(requests).first(1), devices);
    INFO("memory " << devices[0].memory.value() << ", staging bytes " << run.staging_bytes.value());
    try {
      const auto joins = plan_joining(requests[1], devices, run.staging_bytes);
      for (const auto& s : joins.shards) {
        for (const auto& f : {s.forward, s.backward, s.evaluation}) {
          CHECK(f.staging() <= run.staging_bytes);
          CHECK(f.computing() + run.staging_bytes <= devices[0].memory);
        }
      }
    } catch (const fault_error& e) {
      CHECK(e.what_happened().code == fault_code::does_not_fit);
      CHECK_THAT(e.what_happened().text, Contains("'model-1' cannot join") && Contains("cpu:0") &&
                                             Contains(std::to_string(run.staging_bytes.value()) + " bytes"));
    }
  }
}

TEST_CASE("the same model joins a run of itself with the run's own cuts") {
  const auto& requests = both().requests;
  const std::vector<device_info> devices{{.name = "cpu:0", .memory = sufficient_for(requests) * 2}};
  const auto run = make_plan(std::span(requests).first(1), devices);
  CHECK(plan_joining(requests[0], devices, run.staging_bytes).cuts() == run.models[0].cuts());
}
