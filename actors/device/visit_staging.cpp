#include "actors/device/visit_staging.hpp"

#include "runtime/memory/block_copy.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

std::vector<block_id> names_of_outputs(const visit_record& v) {
  std::vector<block_id> names;
  for (const auto& out : v.outputs) {
    for (std::size_t k = 0; k < out.parts.size(); ++k) {
      names.push_back(v.name(out.use, k));
    }
  }
  return names;
}

/// In the order of their names.
void give_homes(visit_record& v, std::span<const host_block_ptr> homes) {
  v.homes = fetch_phase::here;
  auto next = homes.begin();
  for (auto& out : v.outputs) {
    for (auto& part : out.parts) {
      part.home = *next++;
    }
  }
}

}  // namespace

visit_staging::visit_staging(pipeline_state& state, device_slots& slots, pipeline_accounting& accounts,
                             pipeline_port& port)
    : state_(state), slots_(slots), accounts_(accounts), port_(port), lookup_(state) {}

// -- requests ---------------------------------------------------------------------------------------------------------

/// In turn. The budget covers one W in addition to the unit that computes. Several units, failed ones until they end,
/// may hold W without C while each could still get its C next to all of these and to what is saved.
bool visit_staging::may_claim(const visit_record& v) const {
  auto staged = v.staging_bytes();
  auto working = v.model->plan.footprint_of(v.what).working;
  bool alone = true;
  for (const auto& other : state_.visits.all()) {
    if (other.get() == &v) {
      break;
    }
    const bool claims = other->phase() == visit_phase::claiming;
    if (claims && other->alive()) {
      return false;
    }
    if (!claims && !other->ended() && other->next_op == 0) {
      staged += other->staging_bytes();
      working = std::max(working, other->model->plan.footprint_of(other->what).working);
      alone = false;
    }
  }
  return alone || staged + working + state_.cache.resident(block_kind::saved) <= state_.budget.limit();
}

bool visit_staging::claim(visit_record& v) {
  if (!v.messages.both() || !may_claim(v)) {
    return false;
  }
  auto blocks = lookup_.find_claimed(v);
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
  v.first_inputs = *std::move(claim);
  stage(v, *std::move(blocks));
  return true;
}

void visit_staging::stage(visit_record& v, std::vector<found_block> blocks) {
  const auto decides = [&](const found_block& b) { return v.decides_hit(b.input->use.role); };
  accounts_.claimed(/*hit=*/std::ranges::find_if(blocks, decides)->source == block_source::cache);
  auto reads = take(v, blocks, 0);
  slots_.enter(v, visit_phase::leasing);
  const bool homes = in_line(v);
  if (reads.empty() && !homes) {
    slots_.enter(v, visit_phase::staged);
  } else {
    request({.owner = &v, .staging = true, .homes = homes, .reads = std::move(reads)});
  }
}

bool visit_staging::in_line(const visit_record& v) const {
  std::size_t before = 0;
  return state_.visits.all_before(v, [&](const visit_record& other) {
    before += other.phase() < visit_phase::write_back ? 1 : 0;
    return before < 2;
  });
}

bool visit_staging::request_homes(visit_record& v) {
  if (v.homes != fetch_phase::waiting || !in_line(v)) {
    return false;
  }
  request({.owner = &v, .homes = true, .reads = {}});
  return true;
}

/// Gives the unit what was found; one that is nowhere yet is fetched later. Returns those to be copied from the host.
std::vector<visit_input*> visit_staging::take(visit_record& v, std::vector<found_block>& blocks, std::size_t k) {
  std::vector<visit_input*> reads;
  for (auto& b : blocks) {
    if (b.source == block_source::host) {
      b.where = {make_device_block(), {}, fetch_phase::requested};
      reads.push_back(b.input);
    }
    if (b.source == block_source::cache) {
      v.pins.push_back(b.id);
    } else if (b.source != block_source::nowhere && k == 0) {
      insert(v, b);
    }
    b.input->of(k) = b.where;
  }
  return reads;
}

/// Into the cache, pinned.
void visit_staging::insert(visit_record& v, const found_block& b) {
  state_.cache.insert(b.id, v.first_inputs.split(b.bytes), b.where.block, /*dirty=*/b.source != block_source::host);
  state_.cache.set_ready(b.id, b.where.ready);
  v.pins.push_back(b.id);
  v.inserted.push_back(b.id);
}

bool visit_staging::fetch(visit_record& v, std::size_t k) {
  auto blocks = lookup_.find_inputs(v, k);
  if (!blocks) {
    return false;
  }
  auto reads = take(v, *blocks, k);
  if (k == 0) {
    v.first_inputs.release();  // what was found in the cache
  }
  if (!reads.empty()) {
    request({.owner = &v, .batch = k, .reads = std::move(reads)});
  }
  return true;
}

/// From the host it goes into the buffer in which the unit adds its own. What is cached here is not found before C is
/// claimed: a sum that only this unit pins could take the bytes for its C.
bool visit_staging::fetch_sum(visit_record& v) {
  auto* sum = v.reads(block_role::sum);
  if (sum == nullptr || sum->of(0).phase != fetch_phase::waiting) {
    return false;
  }
  const auto id = v.name(sum->use);
  if (const auto* entry = state_.cache.find(id); entry != nullptr && !state_.operations.has_failed(entry->ready)) {
    state_.cache.pin(id);
    v.pins.push_back(id);
    sum->of(0) = {entry->block, entry->ready, fetch_phase::here};
    return true;
  }
  if (state_.visits.produces(v, id)) {
    v.waits.for_copies_out = true;
    return false;
  }
  v.results.gradients = make_device_block();
  sum->of(0) = {v.results.gradients, {}, fetch_phase::requested};
  request({.owner = &v, .reads = {sum}});
  return true;
}

/// One state buffer per computed micro-batch, so that inputs do not queue behind all of the state; the rest after the
/// last input. Its bytes are part of C.
bool visit_staging::fetch_state(visit_record& v) {
  const auto last = v.batches.size() - 1;
  const bool inputs_requested = !v.lacks(last);
  std::size_t before = 0;
  bool changed = false;
  for (auto& in : v.inputs) {
    const bool is_state = fetched(in.use.role) == fetch_time::while_computing;
    if (is_state && in.of(0).phase == fetch_phase::waiting) {
      if (!inputs_requested && before > v.computed) {
        break;
      }
      if (state_.visits.produces(v, v.name(in.use))) {  // by the step before, of a model with one shard
        v.waits.for_copies_out = true;
        break;
      }
      in.of(0) = {make_device_block(), {}, fetch_phase::requested};
      request({.owner = &v, .reads = {&in}});
      changed = true;
    }
    before += is_state ? 1 : 0;
  }
  return changed;
}

void visit_staging::request(lease_record lease) {
  const ticket id{++last_lease_};
  auto& v = *lease.owner;
  std::vector<block_id> reads;
  for (const auto* in : lease.reads) {
    reads.push_back(v.name(in->use, in->part_of(lease.batch)));
  }
  auto outputs = lease.homes ? names_of_outputs(v) : std::vector<block_id>{};
  v.homes = lease.homes ? fetch_phase::requested : v.homes;
  ++v.leases_awaited;
  lease.copies = reads.size();
  leases_.emplace(id.value, std::move(lease));
  port_.lease(id, v.what, std::move(reads), std::move(outputs));
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
  if (l.homes) {
    give_homes(v, outputs);
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
  for (std::size_t i = 0; i < reads.size(); ++i) {
    copy_in_block(id, lease, *lease.reads[i], reads[i]);
  }
  if (lease.staging) {
    slots_.enter(*lease.owner, visit_phase::staged);
  }
}

void visit_staging::copy_in_block(ticket id, const lease_record& lease, visit_input& in, const host_block_ptr& home) {
  auto& v = *lease.owner;
  auto& slot = in.of(lease.batch);
  const auto block = v.name(in.use, in.part_of(lease.batch));
  const auto bytes = v.bytes_of(in.use);
  operation op{.work = copy_in(home, bytes, slot.block, state_.machine.info().torch_device),
               .bytes = bytes,
               .estimate = {},
               .label = state_.labels.of_block("prefetch_shard", v, block)};
  // Blocks in the cache have bytes of their own (W); the others are part of C, which the unit before may still use.
  const auto when = fetched(in.use.role);
  const bool cached = when == fetch_time::with_claim || (when == fetch_time::with_micro_batch && lease.batch == 0);
  const auto after = cached ? std::span<const ticket>{} : std::span<const ticket>(v.working->after);
  slot.ready = state_.operations.submit(
      std::move(op), after,
      {.owner = &v, .kind = operation_kind::promote, .use = in.use, .batch = lease.batch, .lease = id});
  slot.phase = fetch_phase::here;
  if (cached) {
    state_.cache.set_ready(block, slot.ready);
  }
  if (v.decides_hit(in.use.role)) {
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
