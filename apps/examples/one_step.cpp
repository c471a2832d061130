// Read this first: one training step of a small GPT-2 by Hydra's pure classes alone. Layers are measured, the chain is
// cut, and a walk over the graph of the step visits one shard after the other, on this thread. Actors do the same for
// many models on many devices at once, and lose nothing with a device. Either way the parameters must end with the bits
// of plain LibTorch training of the whole chain (plain_step.hpp).

#include "apps/examples/plain_step.hpp"
#include "partition/execute/kept_parameters.hpp"
#include "partition/execute/model_update.hpp"
#include "partition/execute/sharded_model.hpp"
#include "partition/execute/visit.hpp"
#include "runtime/memory/block_copy.hpp"

#include <hydra/hydra.hpp>

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

using namespace hydra;
using namespace hydra::literals;

namespace {

/// Three shards, which begin with layers 0, 1 and 3. A step visits each in two waves, of two micro-batches each.
sharded_model_ptr cut(const std::shared_ptr<const chain>& model, const tensor_spec& sample_target) {
  const auto measured =
      sample_costs(*model, {sample_target, plain::samples, plain::micro_batches}, {*make_host_meter()});
  const auto profile = merge({&measured, 1});
  const plan_request request{.name = "gpt",
                             .model = model.get(),
                             .profile = &profile,
                             .micro_batches = plain::micro_batches,
                             .waves = 2,
                             .rule = plain::rule,
                             .cuts = cut_points{0, 1, 3}};
  const device_info machine{.name = "this thread", .memory = 16_MiB};
  auto m = make_sharded(model, make_plan({&request, 1}, {&machine, 1}).models.front());
  m.update = plain::rule;
  m.steps = 1;
  m.seed = plain::seed;
  return std::make_shared<const sharded_model>(std::move(m));
}

/// What a unit reads and writes, what it follows and who reads a block last: all that is asked of the graph.
struct sharded_step {
  sharded_model_ptr model;
  host_arena& arena;
  const plain::step_data& data;
  const work_graph& graph = model->graphs->step;
  std::vector<shard_home> homes{};            ///< parameters, moments, gradient sums of each shard
  std::map<block_id, host_block_ptr> host{};  ///< the blocks that there are now
  std::vector<bool> done = std::vector<bool>(graph.size());

  void run() {
    for (std::size_t s = 0; s < model->size(); ++s) {
      homes.push_back(make_home(arena, *model, s));
      model->shards[s].layout().initialise(homes[s].parameters->floats(), *model->model, plain::seed);
    }
    for (node_index n; n.value < graph.size(); n = n.next()) place_sources(graph.at(n));
    for (auto ready = graph.ready(done); !ready.empty(); ready = graph.ready(done)) {
      compute(graph.at(ready.back()));  // any of them: the bits are the same
      commit(ready.back());
    }
    model_update optimizer(model);
    for (std::size_t s = 0; s < model->size(); ++s) optimizer.step(s, 0, 1, homes);
  }

  block_id name(block_index b, std::uint32_t part = 0) const { return graph.name({b, part}, graph_turn{}); }

  /// What no unit writes. Here that is parameters, inputs and labels: nothing is frozen, no device steps a shard.
  void place_sources(const work_unit& u) {
    for (const auto& [role, b] : u.reads)
      for (std::uint32_t k = 0; k < graph.block(b).parts && !graph.writer(b); ++k)
        host[name(b, k)] =
            role == block_role::parameters
                ? homes[u.what.shard.value].promoted()
                : (role == block_role::input ? data.inputs : data.labels).at(u.what.first_micro_batch.value + k);
  }

  /// A copy on the device; null if the unit reads nothing in that role.
  device_block_ptr promote(const work_unit& u, block_role role, std::uint32_t k = 0) const {
    const auto use = std::ranges::find(u.reads, role, &block_use::role);
    if (use == u.reads.end()) return nullptr;
    auto block = make_device_block();
    copy_in(host.at(name(use->block, k)), graph.block(use->block).bytes, block, "cpu")();
    return block;
  }

  /// Writes back what `role` of the unit has left on the device, if the unit writes it.
  void demote(const work_unit& u, block_role role, const device_block_ptr& block, std::uint32_t k = 0) {
    const auto use = std::ranges::find(u.writes, role, &block_use::role);
    if (use == u.writes.end()) return;
    const auto home = arena.allocate(graph.block(use->block).bytes, "written back", host_use::transferred);
    copy_out(block, home)();
    host[name(use->block, k)] = home;
  }

  static device_block_ptr room(const work_unit& u, block_role role) {
    return u.writes_any(role) ? make_device_block() : nullptr;
  }

  /// What a forward visit could leave on the device for the backward visit (role `saved`) is computed again.
  void compute(const work_unit& u) {
    visit work(model, u.what, plain::targets);
    const parameter_blocks parameters{promote(u, block_role::parameters)};
    const visit::results out{room(u, block_role::sum), room(u, block_role::loss), promote(u, block_role::sum)};
    for (std::uint32_t k = 0; k < u.what.micro_batches; ++k) {
      const auto upstream = promote(u, block_role::upstream, k);
      const micro_batch_blocks blocks{promote(u, block_role::input, k),
                                      upstream ? upstream : promote(u, block_role::targets, k),
                                      room(u, block_role::output)};
      work.run(k, parameters, blocks, out);
      demote(u, block_role::output, blocks.output, k);
    }
    demote(u, block_role::sum, out.gradients);
    demote(u, block_role::loss, out.loss);
  }

  /// A block of the step is dropped with its last reader. A gradient sum that nobody reads is the optimizer's.
  void commit(node_index n) {
    done[n.value] = true;
    const auto& u = graph.at(n);
    fmt::print("{}\n", to_string(u.what));
    for (const auto& [role, b] : u.reads) {
      const bool read = std::ranges::all_of(graph.readers(b), [&](node_index reader) { return done[reader.value]; });
      for (std::uint32_t k = 0; k < graph.block(b).parts && read && graph.block(b).life == block_life::of_step; ++k)
        host.erase(name(b, k));
    }
    for (const auto& [role, b] : u.writes)
      if (role == block_role::sum && graph.readers(b).empty())
        homes[u.what.shard.value].gradients[u.what.replica.value] = host.at(name(b));
  }
};

}  // namespace

int main() {
  at::set_num_threads(1);
  const auto arena = make_host_arena(16_MiB);
  const auto source = open_data({synthetic_language{}}, plain::context);
  const auto model = std::make_shared<const chain>(
      gpt2({.layers = 3, .width = 16, .heads = 2, .context = plain::context, .dropout = 0.1, .tied = false})
          .build(*source));
  const auto data = plain::read(*source, *arena);
  sharded_step step{.model = cut(model, source->sample_target()), .arena = *arena, .data = data};
  auto device = make_host_meter();  // counts the bytes of the tensors that this thread makes
  step.run();
  fmt::print("at most {} on the device\n", to_string(device->peak()));
  device.reset();
  const auto in_shards = digest_of(*step.model, parameters_of(step.homes));
  const auto whole = plain::digest_after(*model, data);
  fmt::print("in shards {}\nplain     {}\n", in_shards, whole);
  return in_shards == whole ? 0 : 1;
}
