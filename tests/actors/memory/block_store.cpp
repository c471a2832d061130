#include "actors/memory/block_store.hpp"

#include "partition/plan/plan_outline.hpp"
#include "tests/support/block_names.hpp"
#include "tests/support/pipeline_bench.hpp"
#include "tests/support/plain_cursor.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using namespace hydra::literals;
using Catch::Matchers::Contains;

namespace {

constexpr device_id d0{0}, d1{1};

/// A store with one registered model of two shards and its first minibatch.
struct stocked {
  explicit stocked(byte_count cap = 1_MiB) : arena(make_host_arena(cap)), store(*arena) {
    for (const auto& s : m.what()->plan.shards) {
      homes.push_back({.parameters = arena->allocate(s.parameters, "parameters"), .moments = {}});
    }
    store.add_model(model_id{0}, m.what(), {.homes = homes, .versions = {}});
    needed_by_homes = arena->budget().used();
    bring_batch(0);
  }

  void bring_batch(std::uint32_t step) {
    auto f0 = m.forward(0), b1 = m.backward(1);
    f0.step = b1.step = step_index{step};
    store.adopt(inputs_of(f0, step_shape{.shards = 2}, {}).input, arena->allocate(8_B, "minibatch"));
    store.adopt(*inputs_of(b1, step_shape{.shards = 2}, {}).second, arena->allocate(8_B, "targets"));
  }

  lease_request request(const unit& u, device_id device = d0) {
    const auto in = inputs_of(u, step_shape{.shards = 2}, {});
    lease_request r{.lease = ticket{++last}, .device = device, .what = u, .reads = {parameters_of(u), in.input},
                    .outputs = produced_by(u, step_shape{.shards = 2})};
    if (in.second) {
      r.reads.push_back(*in.second);
    }
    return r;
  }

  /// Leased, copied, computed, written back.
  std::optional<committed> visit(const unit& u) {
    const auto r = request(u);
    store.lease(r);
    store.lease_returned(d0, r.lease);
    return store.commit(u, d0);
  }

  fault_code refusal(const lease_request& r) {
    try {
      store.lease(r);
    } catch (const fault_error& e) {
      return e.what_happened().code;
    }
    return fault_code::none;
  }

  bench_model m{even_model{}};
  std::unique_ptr<host_arena> arena;
  block_store store;
  std::vector<shard_home> homes;
  byte_count needed_by_homes;
  std::uint64_t last = 0;
};

}  // namespace

// -- frozen parameters ------------------------------------------------------------------------------------------------

namespace {

/// The model of `s`, whose first shard has a base with this name.
sharded_model_ptr with_base(const stocked& s, std::optional<base_place> name) {
  auto what = std::make_shared<sharded_model>(*s.m.what());
  what->plan.shards[0].base = 64_B;
  what->plan.shards[0].shared_base = name;
  what->graphs = graphs_of(what->plan);
  return what;
}

block_id base_named(std::uint32_t model) {
  block_id id;
  id.model = model_id{model};
  id.kind = block_kind::base;
  return id;
}

}  // namespace

TEST_CASE(
    "a base is in host memory as long as a model reads it, also when the model that brought it has been removed") {
  stocked s;
  const auto name = base_place{model_id{1}, shard_index{0}};
  const auto base = s.arena->allocate(64_B, "base");
  auto homes = s.homes;
  homes[0].base = base;
  s.store.add_model(model_id{1}, with_base(s, name), {.homes = homes, .versions = {}});
  s.store.add_model(model_id{2}, with_base(s, name), {.homes = homes, .versions = {}});
  const auto read = [&] {
    auto u = s.m.forward(0);
    u.model = model_id{2};
    return s.store.lease({.lease = ticket{++s.last}, .device = d0, .what = u, .reads = {base_named(1)}, .outputs = {}});
  };
  CHECK(read().reads.front() == base);
  s.store.lease_returned(d0, ticket{s.last});
  s.store.remove_model(model_id{1});
  CHECK(read().reads.front() == base);
  s.store.lease_returned(d0, ticket{s.last});
  homes.clear();
  s.store.remove_model(model_id{2});
  CHECK(base.use_count() == 1);
}

// -- models that have ended -------------------------------------------------------------------------------------------

TEST_CASE("a model that is removed leaves nothing behind of what it had in host memory or was writing back") {
  stocked s;
  s.visit(s.m.forward(0));
  s.store.lease(s.request(s.m.backward(1)));
  CHECK(s.store.remove_model(model_id{0}).size() == 2);
  s.homes.clear();
  CHECK_FALSE(s.store.has(model_id{0}));
  CHECK(s.store.blocks() == 0);
  CHECK(s.store.write_backs() == 0);
  s.store.lease_returned(d0, ticket{s.last});
  CHECK(s.arena->budget().used() == byte_count{});
}

TEST_CASE("late messages of a model that was removed find nothing") {
  stocked s;
  s.store.lease(s.request(s.m.forward(0)));
  s.store.remove_model(model_id{0});
  CHECK_FALSE(s.store.commit(s.m.forward(0), d0));
  CHECK(s.refusal(s.request(s.m.forward(0))) == fault_code::refused);
  CHECK(s.store.all_homes().empty());
}

// -- leases -----------------------------------------------------------------------------------------------------------

TEST_CASE("of masters with a rounded copy the copy is leased") {
  stocked s;
  auto homes = s.homes;
  homes[0].copy = s.arena->allocate(8_B, "rounded parameters");
  s.store.add_model(model_id{0}, s.m.what(), {.homes = homes, .versions = {}});
  CHECK(s.store.lease(s.request(s.m.forward(0))).reads[0] == homes[0].copy);
}

TEST_CASE("a lease grants the stored blocks to read and new ones for the outputs, in the order of the request") {
  stocked s;
  const auto r = s.request(s.m.forward(0));
  const auto grant = s.store.lease(r);
  REQUIRE(grant.reads.size() == 2);
  CHECK(grant.reads[0] == s.homes[0].parameters);
  REQUIRE(grant.outputs.size() == 1);
  CHECK(grant.outputs[0]->size() == 512_B);
  CHECK(s.store.leases() == 1);
  CHECK(s.store.write_backs() == 1);
}

TEST_CASE("a returned lease and a commit leave no lease and no write-back") {
  stocked s;
  CHECK(s.visit(s.m.forward(0)));
  CHECK(s.store.leases() == 0);
  CHECK(s.store.write_backs() == 0);
  CHECK(s.store.describe().empty());
}

TEST_CASE("blocks that are not in host memory are refused by name") {
  stocked s;
  CHECK_THROWS_WITH(s.store.lease(s.request(s.m.backward(1))),
                    Contains("activation of model 0 shard 0 step 0 micro-batch 0 is not in host memory"));
  CHECK(s.refusal(s.request(s.m.backward(1))) == fault_code::refused);
}

TEST_CASE("a model that is not registered is refused") {
  stocked s;
  auto u = s.m.forward(0);
  u.model = model_id{3};
  CHECK(s.refusal(s.request(u)) == fault_code::refused);
}

TEST_CASE("parameters are leased in their present version only, and not while they are stepped") {
  stocked s;
  auto next = s.m.forward(0);
  next.step = step_index{1};
  s.bring_batch(1);
  CHECK_THROWS_WITH(s.store.lease(s.request(next)), Contains("host memory has version 0"));
  s.store.begin_step(model_id{0}, shard_index{0});
  CHECK_THROWS_WITH(s.store.lease(s.request(s.m.forward(0))), Contains("being stepped"));
  CHECK(s.store.stepped(model_id{0}, shard_index{0}) == version_index{1});
  CHECK_THROWS_WITH(s.store.lease(s.request(s.m.forward(0))), Contains("host memory has version 1"));
  CHECK(s.refusal(s.request(next)) == fault_code::none);
}

TEST_CASE("a refused lease leaves nothing behind, whatever it had already found") {
  stocked s;
  const auto before = s.arena->budget().used();
  auto r = s.request(s.m.forward(0));
  r.reads.push_back(loss_of(s.m.backward(1)));
  CHECK(s.refusal(r) == fault_code::refused);
  CHECK(s.store.leases() == 0);
  CHECK(s.store.write_backs() == 0);
  CHECK(s.arena->budget().used() == before);
}

TEST_CASE("write-back buffers that do not fit are out of memory and leave nothing behind; later they may fit") {
  stocked probe;
  stocked s(probe.arena->budget().used() + host_charge(512_B) * 2);  // one of its two output blocks fits
  s.visit(s.m.forward(0));
  const auto before = s.arena->budget().used();
  auto r = s.request(s.m.backward(1));
  CHECK(s.refusal(r) == fault_code::out_of_memory);
  CHECK(s.arena->budget().used() == before);
  CHECK(s.store.leases() + s.store.write_backs() == 0);
  r.outputs.clear();
  CHECK(s.refusal(r) == fault_code::none);
}

// -- completion -------------------------------------------------------------------------------------------------------

TEST_CASE("a commit makes the outputs readable in host memory") {
  stocked s;
  const auto written_back = s.store.lease(s.request(s.m.forward(0))).outputs[0];
  CHECK(s.refusal(s.request(s.m.backward(1))) == fault_code::refused);  // not committed yet
  CHECK(s.store.commit(s.m.forward(0), d0));
  CHECK(s.store.lease(s.request(s.m.backward(1))).reads[1] == written_back);
}

TEST_CASE("a commit drops what no unit will read again") {
  stocked s;
  s.visit(s.m.forward(0));
  CHECK(s.store.blocks() == 3);  // minibatch, targets, activation
  s.visit(s.m.backward(1));
  CHECK(s.store.blocks() == 2);  // minibatch, upstream
  s.visit(s.m.backward(0));
  CHECK(s.store.blocks() == 0);
}

TEST_CASE("a commit returns the losses, and whether it completes the gradient sums") {
  stocked s;
  CHECK(s.visit(s.m.forward(0))->complete_sums.empty());
  const auto r = s.request(s.m.backward(1));
  const auto grant = s.store.lease(r);
  CHECK(r.outputs.back().kind == block_kind::loss);
  grant.outputs.back()->floats()[0] = 2.5F;
  const auto result = s.store.commit(r.what, d0);
  REQUIRE(result);
  CHECK(result->losses == std::vector{2.5F});
  CHECK(result->complete_sums == std::vector{shard_index{1}});
}

TEST_CASE("committed gradients are stepped with their shard's host buffers and dropped with the step") {
  stocked s;
  s.visit(s.m.forward(0));
  const auto gradients = s.store.lease(s.request(s.m.backward(1))).outputs[1];
  s.store.commit(s.m.backward(1), d0);
  const auto home = s.store.begin_step(model_id{0}, shard_index{1});
  CHECK(home.gradients.front() == gradients);
  CHECK(home.parameters == s.homes[1].parameters);
  s.store.stepped(model_id{0}, shard_index{1});
  CHECK_FALSE(s.store.homes(model_id{0})[1].gradients.front());
}

TEST_CASE("each attempt has write-back buffers of its own, so a late copy overwrites nothing") {
  stocked s;
  const auto late = s.store.lease(s.request(s.m.forward(0), d0)).outputs[0];
  const auto good = s.store.lease(s.request(s.m.forward(0, 1), d1)).outputs[0];
  good->floats()[0] = 1;
  CHECK(s.store.commit(s.m.forward(0, 1), d1));
  late->floats()[0] = 666;
  CHECK(s.store.lease(s.request(s.m.backward(1), d1)).reads[1]->floats()[0] == 1);
}

TEST_CASE("a unit that failed gives its write-back buffers back") {
  stocked s;
  const auto before = s.arena->budget().used();
  s.store.lease(s.request(s.m.forward(0)));
  CHECK(s.store.failed(s.m.forward(0), d0));
  CHECK(s.store.write_backs() == 0);
  CHECK(s.arena->budget().used() == before);
  CHECK_FALSE(s.store.commit(s.m.forward(0), d0));
}

TEST_CASE("messages of a fenced device are ignored") {
  stocked s;
  s.store.lease(s.request(s.m.forward(0)));
  s.store.fence(d0);
  CHECK(s.store.fenced(d0));
  CHECK_FALSE(s.store.commit(s.m.forward(0), d0));
  CHECK_FALSE(s.store.failed(s.m.forward(0), d0));
  CHECK(s.store.blocks() == 2);
  CHECK(s.refusal(s.request(s.m.forward(0))) == fault_code::device_lost);
}

TEST_CASE("a fence drops the leases and write_backs of that device alone") {
  stocked s;
  s.store.lease(s.request(s.m.forward(0), d0));
  s.store.lease(s.request(s.m.forward(0, 1), d1));
  s.store.fence(d0);
  CHECK(s.store.leases() == 1);
  CHECK(s.store.write_backs() == 1);
  CHECK(s.store.describe() == "device 1 holds lease 2 of 2 blocks\n"
                              "device 1 has model 0 step 0 forward 0 attempt 1 with 1 blocks to write back\n");
  CHECK(s.store.commit(s.m.forward(0, 1), d1));
}

TEST_CASE("an evaluation's commit returns the scores of its micro-batches and drops its inputs") {
  stocked s;
  const auto what = std::make_shared<sharded_model>(*s.m.what());
  what->plan.evaluation = {.micro_batches = 1};
  what->graphs = graphs_of(what->plan);
  s.store.add_model(model_id{0}, what, {.homes = s.homes, .versions = {}});
  unit u = s.m.forward(0);
  u.way = direction::evaluate;
  u.shard = shard_index{1};
  const auto in = inputs_of(u, step_shape{.shards = 2}, {});
  s.store.adopt(in.input, s.arena->allocate(8_B, "boundary"));
  s.store.adopt(*in.second, s.arena->allocate(8_B, "targets"));
  const auto before = s.store.blocks();
  const auto result = s.visit(u);
  REQUIRE(result);
  CHECK(result->complete_sums.empty());
  CHECK(result->scores.size() == 1);
  CHECK(s.store.blocks() == before - 2);
}

TEST_CASE("attempts that end without a result have read nothing") {
  stocked s;
  for (const std::uint32_t attempt : {0, 1}) {
    s.store.lease(s.request(s.m.forward(0, attempt)));
    s.store.failed(s.m.forward(0, attempt), d0);
  }
  s.store.lease(s.request(s.m.forward(0, 2), d1));
  s.store.fence(d1);
  s.visit(s.m.forward(0, 3));
  s.visit(s.m.backward(1, 3));
  CHECK(s.refusal(s.request(s.m.backward(0, 3))) == fault_code::none);  // the minibatch is there
  CHECK(s.store.commit(s.m.backward(0, 3), d0));
  CHECK(s.store.blocks() == 0);
}

TEST_CASE("a partial gradient sum is in host memory until the next wave has added to it") {
  const simulated_shard shard{.parameters = 1024_B, .activation = 512_B, .working = 4096_B};
  const auto what = make_simulated_model({.name = "waves", .shards = {shard}, .micro_batches = 2, .waves = 2});
  const auto shape = what->plan.shape();
  const auto arena = make_host_arena(1_MiB);
  block_store store(*arena);
  store.add_model(model_id{0}, what, {.homes = homes_without_bytes(what->plan), .versions = {}});
  const step_graph order(shape);
  for (const std::uint32_t wave : {0, 1}) {
    const auto in = inputs_of(order.at(wave), shape, micro_batch_index{wave});
    store.adopt(in.input, arena->allocate(8_B, "minibatch"));
    store.adopt(*in.second, arena->allocate(8_B, "targets"));
  }
  const auto visit = [&](const unit& u) {
    store.lease({.lease = ticket{1}, .device = d0, .what = u, .reads = {}, .outputs = produced_by(u, shape)});
    return store.commit(u, d0).value();
  };
  CHECK(visit(order.at(0)).complete_sums.empty());
  CHECK(store.blocks() == 3);  // the sum, minibatch and targets of the second wave
  CHECK(visit(order.at(1)).complete_sums == std::vector{shard_index{0}});
  CHECK(store.blocks() == 0);
}

TEST_CASE("a unit that asks for room for a block of another unit is a fault") {
  stocked s;
  auto r = s.request(s.m.forward(0));
  r.outputs = {loss_of(s.m.backward(1))};
  CHECK_THROWS_WITH(s.store.lease(r), Contains("forward 0 does not write loss of model 0 shard 1"));
}

TEST_CASE("a block with readers in any order is there until all of them have committed") {
  const auto activation = [](std::uint32_t shard, std::uint32_t k) {
    const block_id id{.model = {}, .replica = {}, .step = {}, .kind = block_kind::activation,
                      .shard = shard_index{shard}, .micro_batch = micro_batch_index{k}};
    return graph_block{.id = id, .bytes = 8_B};
  };
  const auto visit_in = [](std::uint32_t replica, std::uint32_t shard) {
    unit u;
    u.replica = replica_id{replica};
    u.shard = shard_index{shard};
    return u;
  };
  const auto use = [](block_role role, std::uint32_t b) { return std::vector{block_use{role, block_index{b}}}; };
  const std::vector blocks{activation(0, 0), activation(1, 1), activation(1, 2)};
  using enum block_role;
  stocked s;
  const auto what = std::make_shared<sharded_model>(*s.m.what());
  what->graphs = std::make_shared<const model_graphs>(
      model_graphs{work_graph({{.what = visit_in(0, 0), .writes = use(output, 0)},
                               {.what = visit_in(1, 1), .reads = use(input, 0), .writes = use(output, 1)},
                               {.what = visit_in(2, 1), .reads = use(input, 0), .writes = use(output, 2)}},
                              blocks)});
  s.store.add_model(model_id{0}, what, {.homes = s.homes, .versions = {}});
  const auto before = s.store.blocks();
  const auto left_after = [&](std::uint32_t node) {
    const auto& u = what->graphs->step.at(node_index{node}).what;
    s.store.lease({.lease = ticket{1}, .device = d0, .what = u, .reads = {}, .outputs = {blocks[node].id}});
    REQUIRE(s.store.commit(u, d0));
    return s.store.blocks() - before;
  };
  CHECK(left_after(0) == 1);
  CHECK(left_after(2) == 2);
  CHECK(left_after(1) == 2);  // without what both have read
}

TEST_CASE("after every step the host holds the shards' buffers and nothing else") {
  stocked s;
  for (const auto& u : units_in_order(plain_cursor(model_id{0}, {.shards = 2, .micro_batches = 1}, 3))) {
    REQUIRE(s.visit(u));
    if (has_gradients(u)) {
      s.store.begin_step(u.model, u.shard);
      CHECK(s.store.stepped(u.model, u.shard) == u.step.next());
    }
    if (ends_step(u, {})) {
      CHECK(s.arena->budget().used() == s.needed_by_homes);
      s.bring_batch(u.step.value + 1);
    }
  }
}

// -- checkpoints ------------------------------------------------------------------------------------------------------

TEST_CASE(
    "between two steps a model's memory is its shards' buffers; boundaries of a started step are left out or "
    "included") {
  stocked s;
  const auto fresh = s.store.capture(model_id{0}, {}, false);
  CHECK(fresh.at_step_begin());
  CHECK(fresh.homes[1].parameters == s.homes[1].parameters);
  REQUIRE(s.visit(s.m.forward(0)));
  CHECK(s.store.capture(model_id{0}, {}, false).boundaries.empty());
  const auto halted = s.store.capture(model_id{0}, {}, true);
  CHECK(halted.at_step_begin());
  REQUIRE(halted.boundaries.size() == 1);
  CHECK(halted.boundaries[0].first.kind == block_kind::activation);
}

TEST_CASE("gradients that the optimizer has not received count as written back in a model's memory") {
  stocked s;
  s.visit(s.m.forward(0));
  s.visit(s.m.backward(1));
  s.store.begin_step(model_id{0}, shard_index{1});
  const auto memory = s.store.capture(model_id{0}, {}, false);
  CHECK_FALSE(memory.at_step_begin());
  CHECK(memory.updates.shards == std::vector{update_phase::waiting, update_phase::written_back});
  CHECK(memory.homes[1].gradients.front());
  REQUIRE(memory.boundaries.size() == 1);
  CHECK(memory.boundaries[0].first.kind == block_kind::upstream);
}

TEST_CASE("a store that starts inside a step continues as the one before") {
  stocked s;
  s.visit(s.m.forward(0));
  s.visit(s.m.backward(1));
  s.store.begin_step(model_id{0}, shard_index{1});
  block_store next(*s.arena);
  next.add_model(model_id{0}, s.m.what(), s.store.capture(model_id{0}, {}, true), {.step = 0, .units = {2}});
  CHECK(next.blocks() == 1);
  auto b1 = s.m.backward(1);
  next.adopt(*inputs_of(b1, step_shape{.shards = 2}, {}).second, s.arena->allocate(8_B, "targets"));
  CHECK(next.blocks() == 1);  // no unit would read them any more
  next.adopt(inputs_of(s.m.forward(0), step_shape{.shards = 2}, {}).input, s.arena->allocate(8_B, "minibatch"));
  CHECK(next.blocks() == 2);
  CHECK(next.stepped(model_id{0}, shard_index{1}) == version_index{1});
  const auto r = s.request(s.m.backward(0));
  next.lease(r);
  CHECK(next.commit(s.m.backward(0), d0));
  CHECK(next.blocks() == 0);
}

TEST_CASE("if a step is split between host and device, versions show what is complete") {
  const simulated_shard at_home{.parameters = 1024_B, .activation = 512_B, .working = 4096_B};
  auto on_device = at_home;
  on_device.device_update = duration{};
  const auto what = make_simulated_model({.name = "split", .shards = {on_device, at_home, at_home}});
  const auto arena = make_host_arena(1_MiB);
  block_store store(*arena);
  const version_index old{4}, next{5};
  store.add_model(model_id{0}, what, {.homes = homes_without_bytes(what->plan), .versions = {old, next, next}});
  using enum update_phase;
  // The optimizer has completed its part of the step: it does not know that the device's part is missing.
  const auto memory = store.capture(model_id{0}, {.shards = {complete, waiting, waiting}, .norms = {}}, true);
  CHECK(memory.updates.shards == std::vector{waiting, complete, complete});
  CHECK(memory.step() == old.value);
  CHECK_FALSE(memory.at_step_begin());
}
