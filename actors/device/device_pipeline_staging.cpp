#include "actors/device/device_pipeline.hpp"

#include "partition/graph/dataflow.hpp"
#include "runtime/device/cpu/accounting_allocator.hpp"
#include "runtime/memory/block_copy.hpp"

#include <algorithm>
#include <utility>

// From a placement to bytes on the device: claims, leases, copies in.

namespace hydra {

/// At most one unit holds W without C: the budget covers one W in addition to the unit that computes, and with more
/// slots a second W could take the bytes that the first unit needs to compute.
bool device_pipeline::first_to_claim(const visit_record& v) const {
  return all_before(v, [](const visit_record& other) { return other.next_op > 0; });
}

std::optional<staged_block> device_pipeline::live_output(const block_id& id) const {
  for (const auto& v : visits_) {
    if (v->what.model != id.model || !v->alive()) {
      continue;
    }
    if (v->step_submitted() && id == stepped_parameters_of(v->what)) {
      const auto block = v->stepping.parameters.lock();
      return block ? std::optional(staged_block{block, v->stepping.compute}) : std::nullopt;
    }
    for (std::size_t k = 0; k < v->next_op; ++k) {
      const auto out = output_of(v->what, v->model->size(), v->index_of(k));
      if (out == id) {
        const auto block = v->batches[k].output.lock();
        return block ? std::optional(staged_block{block, v->batches[k].compute}) : std::nullopt;
      }
    }
  }
  return std::nullopt;
}

bool device_pipeline::produced_here(const block_id& id, std::size_t shards) const {
  return std::ranges::any_of(visits_, [&](const auto& v) {
    if (v->what.model != id.model || !v->alive()) {
      return false;
    }
    if (v->steps() && makes_version(v->what, id)) {
      return true;
    }
    for (std::uint32_t k = 0; k < v->what.micro_batches; ++k) {
      if (output_of(v->what, shards, v->index_of(k)) == id) {
        return true;
      }
    }
    return false;
  });
}

/// The blocks that micro-batch `k` of a visit reads; for the first one also the parameters.
std::vector<device_pipeline::wanted_block> device_pipeline::wanted(const visit_record& v, std::size_t k) const {
  std::vector<wanted_block> wants;
  const auto want = [&](const block_id& id) {
    wants.push_back({.id = id, .bytes = v.model->plan.room_for(id), .found = {}});
  };
  if (k == 0) {
    want(parameters_of(v.what));
  }
  const auto in = inputs_of(v.what, v.model->size(), v.index_of(k));
  want(in.input);
  if (in.second) {
    want(*in.second);
  }
  return wants;
}

/// Looks up a block by name: in the cache (perhaps still being written back), produced by a unit that computes here,
/// else in host memory. False: it was produced here but has left the device and its unit has not been demoted, so the
/// host may not have it yet.
bool device_pipeline::resolve(const visit_record& v, wanted_block& w) {
  if (const auto* entry = cache_.find(w.id)) {
    if (failed_.contains(entry->ready.value)) {
      return false;  // it is released with the failed units that hold it; a unit that used it would fail, too
    }
    cache_.pin(w.id);
    w.found = {entry->block, entry->ready};
    w.hit = true;
    return true;
  }
  if (auto live = live_output(w.id)) {
    w.found = *live;
    return true;
  }
  w.home = !produced_here(w.id, v.model->size());
  return w.home;
}

void device_pipeline::unpin_all(std::vector<wanted_block>& wants) {
  for (const auto& w : wants) {
    if (w.hit) {
      cache_.unpin(w.id);
    }
  }
}

bool device_pipeline::try_claim(visit_record& v) {
  auto wants = wanted(v, 0);
  byte_count bytes;
  const bool resolved = std::ranges::all_of(wants, [&](wanted_block& w) {
    const bool found = resolve(v, w);
    bytes += w.hit ? byte_count{} : w.bytes;
    return found;
  });
  auto claim = resolved ? cache_.make_room(bytes) : std::nullopt;
  if (!claim) {
    v.waits.for_copies_out = true;  // of what it reads, or of what occupies the bytes
    unpin_all(wants);
    return false;
  }
  ++(wants.front().hit ? counters_.hits : counters_.misses);
  std::vector<block_id> reads;
  for (auto& w : wants) {
    take(v, w, *claim);
    if (w.home) {
      reads.push_back(w.id);
    }
  }
  v.batches[0].phase = micro_batch_phase::fetching;
  enter(v, visit_phase::leasing);
  request_lease(v, std::move(reads), written_back_by(v.what, v.model->plan), 0, true);
  return true;
}

/// Puts a wanted block into the cache (pinned) and into the visit.
void device_pipeline::take(visit_record& v, wanted_block& w, reservation& claim) {
  v.pins.push_back(w.id);
  if (!w.hit) {
    auto block = w.home ? make_device_block() : w.found.block;
    cache_.insert(w.id, claim.split(w.bytes), block, /*dirty=*/!w.home);
    cache_.set_ready(w.id, w.found.ready);
    v.inserted.push_back(w.id);
    w.found.block = std::move(block);
  }
  v.slot_of(w.id, 0) = w.found;
}

void device_pipeline::request_lease(visit_record& v, std::vector<block_id> reads, std::vector<block_id> outputs,
                                    std::size_t k, bool staging) {
  const ticket lease{++last_lease_};
  leases_.emplace(lease.value, lease_record{&v, reads, outputs, k, staging, reads.size()});
  ++v.leases_awaited;
  port_.lease(lease, v.what, std::move(reads), std::move(outputs));
}

void device_pipeline::submit_promotion(lease_record& lease, ticket id, const block_id& block, const host_block_ptr& home) {
  auto& v = *lease.owner;
  auto& slot = v.slot_of(block, lease.batch);
  const auto bytes = v.model->plan.bytes_of(block);
  const bool parameters = block.kind == block_kind::parameters;
  operation op{.work = copy_in(home, bytes, slot.block, machine_.info().torch_device),
               .bytes = bytes,
               .estimate = {},
               .label = label("prefetch_shard", v, block)};
  // Staged blocks have bytes of their own (W); blocks of later micro-batches are part of C, which the unit before may
  // still use.
  const auto after = lease.staging ? std::span<const ticket>{} : std::span<const ticket>(v.working->after);
  slot.ready = submit(queue_kind::h2d, std::move(op), after,
                      {.owner = &v, .kind = parameters ? op_kind::promote : op_kind::promote_input, .batch = lease.batch,
                       .lease = id, .bytes = bytes, .label = {}});
  if (lease.staging) {
    cache_.set_ready(block, slot.ready);
  }
  if (parameters) {
    newly_cached_.push_back(block);
  }
}

}  // namespace hydra
