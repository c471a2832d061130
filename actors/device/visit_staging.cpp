#include "actors/device/visit_staging.hpp"

#include "partition/graph/dataflow.hpp"
#include "runtime/memory/block_copy.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

/// Bounds count what each version takes, and the copies of a base.
operation_kind kind_of(const block_id& block) noexcept {
  switch (block.kind) {
    case block_kind::parameters:
      return operation_kind::promote;
    case block_kind::base:
      return operation_kind::promote_base;
    default:
      return operation_kind::promote_input;
  }
}

}  // namespace

visit_staging::visit_staging(pipeline_state& state, device_slots& slots, pipeline_accounting& accounts,
                             pipeline_port& port)
    : state_(state), slots_(slots), accounts_(accounts), port_(port), lookup_(state) {}

// -- requests ---------------------------------------------------------------------------------------------------------

/// At most one unit holds W without C: the budget covers one W in addition to the unit that computes, and with more
/// slots a second W could take the bytes that the first unit needs to compute.
bool visit_staging::first_to_claim(const visit_record& v) const {
  return state_.visits.all_before(v, [](const visit_record& other) { return other.next_op > 0; });
}

bool visit_staging::claim(visit_record& v) {
  if (!v.messages.both() || !first_to_claim(v)) {
    return false;
  }
  auto blocks = lookup_.find_inputs(v, 0);
  if (!blocks) {
    v.waits.for_copies_out = true;  // of what it reads
    return false;
  }
  byte_count bytes;
  for (const auto& b : *blocks) {
    bytes += b.source == block_source::cache ? byte_count{} : b.bytes;
  }
  auto claim = state_.make_room(v, bytes);
  if (!claim) {
    v.waits.for_copies_out = true;  // of what occupies the bytes
    lookup_.unpin(*blocks);
    return false;
  }
  stage(v, *std::move(blocks), *std::move(claim));
  return true;
}

void visit_staging::stage(visit_record& v, std::vector<found_block> blocks, reservation claim) {
  const auto decides = [&](const found_block& b) { return v.decides_hit(b.id); };
  accounts_.claimed(/*hit=*/std::ranges::find_if(blocks, decides)->source == block_source::cache);
  std::vector<block_id> reads;
  for (auto& b : blocks) {
    take(v, b, claim);
    if (b.source == block_source::host) {
      reads.push_back(b.id);
    }
  }
  v.batches[0].phase = micro_batch_phase::fetching;
  slots_.enter(v, visit_phase::leasing);
  request({.owner = &v, .use = purpose::staging, .reads = std::move(reads),
           .outputs = written_back_by(v.what, v.model->plan)});
}

/// Puts a block into the cache (pinned) and into the unit.
void visit_staging::take(visit_record& v, found_block& b, reservation& claim) {
  v.pins.push_back(b.id);
  if (b.source != block_source::cache) {
    const bool home = b.source == block_source::host;
    auto block = home ? make_device_block() : b.where.block;
    state_.cache.insert(b.id, claim.split(b.bytes), block, /*dirty=*/!home);
    state_.cache.set_ready(b.id, b.where.ready);
    v.inserted.push_back(b.id);
    b.where.block = std::move(block);
  }
  v.slot_of(b.id, 0) = b.where;
}

bool visit_staging::fetch(visit_record& v, std::size_t k) {
  auto blocks = lookup_.find_inputs(v, k);
  if (!blocks) {
    v.waits.for_copies_out = true;
    return false;
  }
  std::vector<block_id> reads;
  for (auto& b : *blocks) {
    if (b.source == block_source::cache) {
      v.pins.push_back(b.id);
    } else if (b.source == block_source::host) {
      b.where.block = make_device_block();
      reads.push_back(b.id);
    }
    v.slot_of(b.id, k) = b.where;
  }
  v.batches[k].phase = reads.empty() ? micro_batch_phase::fetched : micro_batch_phase::fetching;
  if (!reads.empty()) {
    request({.owner = &v, .use = purpose::micro_batch, .batch = k, .reads = std::move(reads)});
  }
  return true;
}

/// From the host it goes into the buffer in which the unit adds its own. What is cached here is not found before C is
/// claimed: a sum that only this unit pins could take the bytes for its C.
bool visit_staging::fetch_sum(visit_record& v) {
  const auto id = sum_before(v.what);
  if (!id || v.sum_phase != micro_batch_phase::waiting) {
    return false;
  }
  if (const auto* entry = state_.cache.find(*id); entry != nullptr && !state_.operations.has_failed(entry->ready)) {
    state_.cache.pin(*id);
    v.pins.push_back(*id);
    v.sum = {entry->block, entry->ready};
    v.sum_phase = micro_batch_phase::fetched;
    return true;
  }
  if (state_.visits.produces(*id, v.model->plan.shape())) {
    v.waits.for_copies_out = true;
    return false;
  }
  v.sum.block = v.results.gradients = make_device_block();
  v.sum_phase = micro_batch_phase::fetching;
  request({.owner = &v, .use = purpose::sum, .reads = {*id}});
  return true;
}

/// One state buffer per computed micro-batch, so that inputs do not queue behind all of the state; the rest after the
/// last input. Its bytes are part of C.
bool visit_staging::fetch_state(visit_record& v) {
  const auto buffers = v.state_buffers();
  auto& state = v.stepping.state;
  const bool inputs_requested = v.batches.back().phase != micro_batch_phase::waiting;
  bool changed = false;
  while (state.size() < buffers && (inputs_requested || state.size() <= v.computed)) {
    const auto id = state_block(v.what, state.size());
    if (state_.visits.produces(id, v.model->plan.shape())) {  // by the step before, of a model with one shard
      v.waits.for_copies_out = true;
      return changed;
    }
    state.push_back({make_device_block(), {}});
    request({.owner = &v, .use = purpose::state, .reads = {id}});
    changed = true;
  }
  return changed;
}

void visit_staging::request(lease_record lease) {
  const ticket id{++last_lease_};
  const auto& what = lease.owner->what;
  auto reads = lease.reads;
  auto outputs = lease.outputs;
  ++lease.owner->leases_awaited;
  lease.copies = reads.size();
  leases_.emplace(id.value, std::move(lease));
  port_.lease(id, what, std::move(reads), std::move(outputs));
}

// -- answers ----------------------------------------------------------------------------------------------------------

bool visit_staging::leased(ticket lease, std::span<const host_block_ptr> reads,
                           std::span<const host_block_ptr> outputs) {
  const auto found = leases_.find(lease.value);
  if (found == leases_.end()) {
    return false;
  }
  auto& l = found->second;
  auto& v = *l.owner;
  --v.leases_awaited;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    v.outputs.emplace(l.outputs[i], outputs[i]);
  }
  if (v.failed()) {
    port_.return_lease(lease);
  } else {
    grant(lease, l, reads);
  }
  if (v.failed() || reads.empty()) {
    leases_.erase(found);
  }
  return true;
}

void visit_staging::grant(ticket id, const lease_record& lease, std::span<const host_block_ptr> reads) {
  auto& v = *lease.owner;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    copy_in_block(id, lease, lease.reads[i], reads[i]);
  }
  if (lease.use == purpose::staging) {
    slots_.enter(v, visit_phase::staged);
  }
  if (lease.use == purpose::state) {
    ++v.stepping.promoted;
  } else if (lease.use == purpose::sum) {
    v.sum_phase = micro_batch_phase::fetched;
  } else {
    v.batches[lease.batch].phase = micro_batch_phase::fetched;
  }
}

void visit_staging::copy_in_block(ticket id, const lease_record& lease, const block_id& block,
                                  const host_block_ptr& home) {
  auto& v = *lease.owner;
  auto& slot = v.slot_of(block, lease.batch);
  const bool staging = lease.use == purpose::staging;
  const auto bytes = v.model->plan.bytes_of(block);
  operation op{.work = copy_in(home, bytes, slot.block, state_.machine.info().torch_device),
               .bytes = bytes,
               .estimate = {},
               .label = state_.labels.of_block("prefetch_shard", v, block)};
  // Staged blocks have bytes of their own (W); blocks of later micro-batches are part of C, which the unit before may
  // still use.
  const auto after = staging ? std::span<const ticket>{} : std::span<const ticket>(v.working->after);
  const auto kind = kind_of(block);
  slot.ready =
      state_.operations.submit(std::move(op), after, {.owner = &v, .kind = kind, .batch = lease.batch, .lease = id});
  if (staging) {
    state_.cache.set_ready(block, slot.ready);
  }
  if (v.decides_hit(block)) {
    slots_.add_cached(block);
  }
}

visit_record* visit_staging::refused(ticket lease) {
  const auto found = leases_.extract(lease.value);
  if (found.empty()) {
    return nullptr;
  }
  auto* v = found.mapped().owner;
  --v->leases_awaited;
  return v;
}

void visit_staging::copied(ticket lease) {
  const auto found = leases_.find(lease.value);
  if (found != leases_.end() && --found->second.copies == 0) {
    leases_.erase(found);
    port_.return_lease(lease);
  }
}

}  // namespace hydra
