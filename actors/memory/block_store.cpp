#include "actors/memory/block_store.hpp"

#include "runtime/base/model_graphs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra {

struct block_store::model_record {
  sharded_model_ptr what;
  std::vector<shard_home> homes{};
  std::vector<version_index> versions{};
  std::vector<bool> stepping{};
  step_position begins{};
};

block_store::block_store(host_arena& arena) : arena_(arena) {}
block_store::~block_store() = default;

block_store::model_record& block_store::record(model_id id) {
  const auto found = models_.find(id);
  if (found == models_.end()) {
    throw fault_error(fault_code::internal, fmt::format("model {} is not registered", id.value));
  }
  return found->second;
}

void block_store::add_model(model_id model, sharded_model_ptr what, model_memory memory, const step_position& begins) {
  model_record r{.what = what};
  r.stepping.resize(what->size());
  r.versions = std::move(memory.versions);
  r.versions.resize(what->size());
  for (std::size_t s = 0; s < memory.updates.shards.size(); ++s) {
    r.stepping[s] = is_under_way(memory.updates.shards[s]);
  }
  r.homes = std::move(memory.homes);
  r.begins = begins;
  for (std::uint32_t s = 0; s < r.homes.size(); ++s) {
    if (const auto& shard = r.what->plan.shards[s]; shard.base > byte_count{}) {
      bases_[shard.shared_base.value_or(base_place{model, shard_index{s}})] = r.homes[s].base;  // null in a simulation
    }
  }
  models_.insert_or_assign(model, std::move(r));
  for (auto& [id, bytes] : memory.boundaries) {
    adopt(id, std::move(bytes));
  }
}

std::vector<shard_home> block_store::remove_model(model_id model) {
  auto removed = models_.extract(model);
  std::erase_if(blocks_, [&](const auto& entry) { return entry.first.model == model; });
  std::erase_if(write_backs_, [&](const auto& entry) { return entry.first.second.model == model; });
  return removed.empty() ? std::vector<shard_home>{} : std::move(removed.mapped().homes);
}

// -- leases -----------------------------------------------------------------------------------------------------------

/// Where a block of a version is at home.
host_block_ptr& block_store::place_of(const block_id& id) {
  auto& r = record(id.model);
  const auto s = id.shard.value;
  return id.kind == block_kind::state ? state_buffer(r.homes[s], r.what->plan.shards[s], id.micro_batch.value)
                                      : r.homes[s].promoted();
}

host_block_ptr block_store::readable(const block_id& id) {
  if (id.kind == block_kind::parameters || id.kind == block_kind::state) {
    const auto& r = record(id.model);
    const auto s = id.shard.value;
    if (r.versions.at(s) != id.step || r.stepping[s]) {
      throw fault_error(fault_code::refused, fmt::format("{}: host memory has version {}{}", to_string(id),
                                                         r.versions[s].value, r.stepping[s] ? ", being stepped" : ""));
    }
    return place_of(id);
  }
  if (id.kind == block_kind::base) {
    if (const auto base = bases_.find({id.model, id.shard}); base != bases_.end()) {
      return base->second.lock();
    }
  } else if (const auto block = blocks_.find(id); block != blocks_.end()) {
    return block->second.bytes;
  }
  throw fault_error(fault_code::refused, to_string(id) + " is not in host memory");
}

/// A unit's node in its graph.
struct block_store::visited {
  const work_graph& graph;
  node_index node;
  graph_turn turn;
  const unit& what;

  visited(const model_record& r, const unit& u)
      : graph(r.what->graphs->of(u)), node(r.what->graphs->node_of(u)), turn(model_graphs::turn_of(u)), what(u) {}

  /// Throws fault_error{internal} if the unit does not write it.
  const block_use& write_of(const block_id& id) const {
    const auto& writes = graph.at(node).writes;
    const auto use = std::ranges::find_if(
        writes, [&](const block_use& w) { return graph.part_of(w.block, id, turn).has_value(); });
    if (use == writes.end()) {
      throw fault_error(fault_code::internal, fmt::format("{} does not write {}", to_string(what), to_string(id)));
    }
    return *use;
  }
};

lease_grant block_store::lease(const lease_request& request) {
  if (fenced(request.device)) {
    throw fault_error(fault_code::device_lost, fmt::format("device {} is fenced", request.device.value));
  }
  if (!models_.contains(request.what.model)) {
    throw fault_error(fault_code::refused, to_string(request.what) + ": the model is not registered");
  }
  lease_grant grant;
  for (const auto& id : request.reads) {
    grant.reads.push_back(readable(id));
  }
  written_back_blocks write_back;
  if (!request.outputs.empty()) {
    const visited v(record(request.what.model), request.what);
    for (const auto& id : request.outputs) {
      const auto bytes = v.graph.block(v.write_of(id).block).bytes;
      write_back.emplace_back(id, arena_.allocate(bytes, to_string(id), host_use::transferred));
      grant.outputs.push_back(write_back.back().second);
    }
  }
  if (!grant.reads.empty()) {
    leases_[{request.device, request.lease}] = grant.reads;
  }
  if (!write_back.empty()) {
    write_backs_[{request.device, request.what}] = std::move(write_back);
  }
  return grant;
}

void block_store::lease_returned(device_id device, ticket lease) { leases_.erase({device, lease}); }

// -- completion -------------------------------------------------------------------------------------------------------

namespace {

void take_losses(const unit& u, const host_block_ptr& bytes, committed& result) {
  const auto values = bytes->data() ? bytes->floats() : std::span<float>{};
  if (u.way == direction::evaluate) {
    result.scores = scores_in(values);
  } else {
    result.losses.assign(values.begin(), values.end());
    result.losses.resize(u.micro_batches);
  }
}

}  // namespace

void block_store::take_over(const visited& v, const block_id& id, host_block_ptr bytes, committed& result) {
  auto& r = record(v.what.model);
  const auto& [role, block] = v.write_of(id);
  const auto readers = v.graph.readers(block).size();
  if (role == block_role::loss) {
    take_losses(v.what, bytes, result);
  } else if (role == block_role::parameters || role == block_role::state) {
    place_of(id) = std::move(bytes);
    r.versions[id.shard.value] = id.step;  // a device has stepped the shard
    result.stepped = id.step;
  } else if (role == block_role::sum && readers == 0) {
    auto& home = r.homes[id.shard.value];
    home.gradients.at(id.replica.value) = std::move(bytes);
    if (home.has_all_gradients()) {
      result.complete_sums.push_back(id.shard);
    }
  } else {
    blocks_.insert_or_assign(id, stored_block{std::move(bytes), readers});
  }
}

void block_store::drop_what_was_read(const visited& v) {
  for (const auto& use : v.graph.at(v.node).reads) {
    const auto& block = v.graph.block(use.block);
    const auto last = v.graph.last_reader(use.block);
    if (block.life != block_life::of_step || (last && last != v.node)) {
      continue;  // it is at home elsewhere, or will be read again
    }
    for (block_part each{.block = use.block}; each.part < block.parts; ++each.part) {
      const auto found = blocks_.find(v.graph.name(each, v.turn));
      if (found != blocks_.end() && (last || --found->second.readers_left == 0)) {
        blocks_.erase(found);
      }
    }
  }
}

std::optional<committed> block_store::commit(const unit& u, device_id device) {
  auto write_back = write_backs_.extract({device, u});
  if (write_back.empty() || fenced(device)) {
    return std::nullopt;
  }
  const auto& r = record(u.model);
  const visited v(r, u);
  committed result;
  for (auto& [id, bytes] : write_back.mapped()) {
    take_over(v, id, std::move(bytes), result);
  }
  drop_what_was_read(v);
  const auto first_trained = r.what->plan.first_trained;
  const bool ends_step = u.way == direction::backward && u.shard.value == first_trained;
  if (ends_step && (!result.complete_sums.empty() || result.stepped)) {
    for (std::uint32_t s = 0; s < first_trained; ++s) {
      result.complete_sums.push_back(shard_index{s});  // their next version is the same
    }
  }
  return result;
}

bool block_store::failed(const unit& u, device_id device) {
  write_backs_.erase({device, u});
  return !fenced(device);
}

void block_store::fence(device_id device) {
  fenced_.insert(device);
  std::erase_if(leases_, [&](const auto& entry) { return entry.first.first == device; });
  std::erase_if(write_backs_, [&](const auto& entry) { return entry.first.first == device; });
}

// -- minibatches, versions --------------------------------------------------------------------------------------------

/// Those that had committed before the step was resumed do not count.
std::size_t block_store::readers_left(const model_record& r, const block_id& id) {
  const auto& graph = r.what->graphs->of(id);
  const auto found = graph.find(id, model_graphs::turn_of(id));
  const bool resumed = id.pass == pass_kind::train && id.step.value == r.begins.step;
  const auto reads = [&](node_index n) { return !resumed || !graph.is_done(n, r.begins); };
  return found ? static_cast<std::size_t>(std::ranges::count_if(graph.readers(found->block), reads)) : 0;
}

void block_store::adopt(const block_id& id, host_block_ptr bytes) {
  if (const auto left = readers_left(record(id.model), id); left > 0) {
    blocks_.insert_or_assign(id, stored_block{std::move(bytes), left});
  }
}

shard_home block_store::begin_step(model_id model, shard_index shard) {
  auto& r = record(model);
  r.stepping.at(shard.value) = true;
  return r.homes[shard.value];
}

version_index block_store::stepped(model_id model, shard_index shard) {
  auto& r = record(model);
  r.stepping.at(shard.value) = false;
  r.homes[shard.value].drop_gradients();
  r.versions[shard.value] = r.versions[shard.value].next();
  return r.versions[shard.value];
}

// -- checkpoints ------------------------------------------------------------------------------------------------------

model_memory block_store::capture(model_id model, update_progress updates, bool boundaries) const {
  const auto& r = models_.at(model);
  model_memory memory{.homes = r.homes, .versions = r.versions, .updates = std::move(updates)};
  memory.updates.shards.resize(r.homes.size(), update_phase::waiting);
  const auto least = std::ranges::min(r.versions);
  for (std::size_t s = 0; s < r.homes.size(); ++s) {
    auto& phase = memory.updates.shards[s];
    if (!is_under_way(phase)) {  // with steps on devices the optimizer does not know for which step others wait
      phase = r.versions[s] > least ? update_phase::complete : update_phase::waiting;
    }
    if (r.stepping[s] && phase == update_phase::waiting && r.what->share.whole()) {  // else they are being exchanged
      phase = update_phase::written_back;  // the optimizer has not received them yet
    }
  }
  if (!boundaries && memory.at_step_begin()) {
    return memory;
  }
  const auto& step = r.what->graphs->step;
  for (const auto& [id, block] : blocks_) {
    const auto found = id.model == model ? step.find(id, model_graphs::turn_of(id)) : std::nullopt;
    if (found && step.writer(found->block)) {  // samples are read again
      memory.boundaries.emplace_back(id, block.bytes);
    }
  }
  std::ranges::sort(memory.boundaries, {}, [](const auto& entry) { return entry.first; });
  return memory;
}

// -- facts ------------------------------------------------------------------------------------------------------------

bool block_store::has(model_id id) const { return models_.contains(id); }

const sharded_model_ptr& block_store::model(model_id id) const { return models_.at(id).what; }

std::vector<shard_home> block_store::homes(model_id id) const { return models_.at(id).homes; }

std::map<model_id, std::vector<shard_home>> block_store::all_homes() const {
  std::map<model_id, std::vector<shard_home>> all;
  for (const auto& [id, r] : models_) {
    all.emplace(id, r.homes);
  }
  return all;
}

std::string block_store::describe() const {
  std::string text;
  for (const auto& [key, reads] : leases_) {
    text += fmt::format("device {} holds lease {} of {} blocks\n", key.first.value, key.second.value, reads.size());
  }
  for (const auto& [key, blocks] : write_backs_) {
    text += fmt::format("device {} has {} with {} blocks to write back\n", key.first.value, to_string(key.second),
                        blocks.size());
  }
  return text;
}

}  // namespace hydra
