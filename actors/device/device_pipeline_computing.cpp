#include "actors/device/device_pipeline.hpp"

#include "partition/graph/dataflow.hpp"
#include "runtime/device/cpu/accounting_allocator.hpp"
#include "runtime/memory/block_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

// From staged bytes to operations: working bytes, micro-batches, copies out.

namespace hydra {

namespace {

/// How many micro-batches of outputs a visit may have on the device (the footprint counts two at a time).
constexpr std::size_t output_window = 2;

byte_count total(const std::vector<reservation>& parts) {
  byte_count sum;
  for (const auto& part : parts) {
    sum += part.bytes();
  }
  return sum;
}

/// Moves exactly `n` bytes of claims. There must be as many.
void move_bytes(std::vector<reservation>& from, byte_count n, std::vector<reservation>& to) {
  while (n > byte_count{}) {
    auto& part = from.back();
    const auto now = std::min(n, part.bytes());
    to.push_back(part.split(now));
    n -= now;
    if (part.bytes() == byte_count{}) {
      from.pop_back();
    }
  }
}

}  // namespace

bool device_pipeline::first_to_submit(const visit_record& v) const {
  return all_before(v, [](const visit_record& other) { return other.all_submitted(); });
}

/// The last unit that still has bytes to pass on; all its computations were submitted before those of `v`.
visit_record* device_pipeline::predecessor_with_room(const visit_record& v) const {
  visit_record* holder = nullptr;
  for (const auto& other : visits_) {
    const bool has_room = other->working && !other->working->empty();
    if (other.get() != &v && other->alive() && other->all_submitted() && has_room) {
      holder = other.get();
    }
  }
  return holder;
}

bool device_pipeline::collect_working(visit_record& v, byte_count need, working_bytes& got) {
  if (auto fresh = cache_.make_room(need)) {
    got.until_computed.push_back(std::move(*fresh));
    return true;
  }
  auto* holder = predecessor_with_room(v);
  if (!holder) {
    return false;
  }
  auto& before = *holder->working;
  const auto when_computed = std::min(total(before.until_computed), need);
  const auto when_written_back = std::min(total(before.until_written_back), need - when_computed);
  auto more = cache_.make_room(need - when_computed);
  if (!more) {
    more = cache_.make_room(need - when_computed - when_written_back);
    if (!more) {
      return false;
    }
    move_bytes(before.until_written_back, when_written_back, got.until_computed);
    v.waits.for_copies_out = true;
    got.after = holder->write_back;
  }
  move_bytes(before.until_computed, when_computed, got.until_computed);
  got.after.push_back(holder->last_compute());
  v.start_after.insert(v.start_after.end(), got.after.begin(), got.after.end());
  got.until_computed.push_back(std::move(*more));
  return true;
}

/// Splits C by when it will be free again.
bool device_pipeline::try_working(visit_record& v) {
  const auto& footprint = v.model->plan.footprint_of(v.what);
  working_bytes got;
  if (!collect_working(v, footprint.working, got)) {
    return false;
  }
  move_bytes(got.until_computed, std::min(footprint.write_back, footprint.working), got.until_written_back);
  v.working = std::move(got);
  return true;
}

/// Looks for the inputs of a later micro-batch; its bytes are part of C.
bool device_pipeline::fetch(visit_record& v, std::size_t k) {
  auto wants = wanted(v, k);
  if (!std::ranges::all_of(wants, [&](wanted_block& w) { return resolve(v, w); })) {
    v.waits.for_copies_out = true;
    unpin_all(wants);
    return false;
  }
  std::vector<block_id> reads;
  for (auto& w : wants) {
    if (w.hit) {
      v.pins.push_back(w.id);
    } else if (w.home) {
      w.found.block = make_device_block();
      reads.push_back(w.id);
    }
    v.slot_of(w.id, k) = w.found;
  }
  auto& batch = v.batches[k];
  batch.phase = reads.empty() ? micro_batch_phase::fetched : micro_batch_phase::fetching;
  if (!reads.empty()) {
    request_lease(v, std::move(reads), {}, k, false);
  }
  return true;
}

bool device_pipeline::pump(visit_record& v) {
  bool changed = false;
  if (!v.working) {
    if (!try_working(v)) {
      v.waits.for_copies_out = true;
      return false;
    }
    changed = true;
  }
  for (std::size_t k = v.next_op; k < v.batches.size() && k <= v.computed + 1; ++k) {
    changed = (v.batches[k].phase == micro_batch_phase::waiting && fetch(v, k)) || changed;
  }
  while (!v.micro_batches_submitted() && v.batches[v.next_op].phase == micro_batch_phase::fetched) {
    const auto k = v.next_op;
    if (k >= output_window && v.batches[k - output_window].phase != micro_batch_phase::written_back) {
      v.waits.for_copies_out = true;
      break;
    }
    submit_compute(v, k);
    changed = true;
  }
  if (v.steps()) {
    changed = fetch_state(v) || changed;
    changed = try_step(v) || changed;
  }
  return changed;
}

void device_pipeline::submit_compute(visit_record& v, std::size_t k) {
  auto& batch = v.batches[k];
  const auto out = output_of(v.what, v.model->size(), v.index_of(k));
  const auto output = out ? make_device_block() : nullptr;
  if (k == 0) {
    v.results.gradients = has_gradients(v.what) ? make_device_block() : nullptr;
    v.results.loss = has_loss(v.what, v.model->size()) ? make_device_block() : nullptr;
  }
  std::vector<ticket> after{v.parameters.ready, batch.input.ready, batch.second.ready};
  if (k == 0) {
    v.start_after.insert(v.start_after.end(), after.begin(), after.end());
    after = v.start_after;
  } else {
    after.push_back(v.batches[k - 1].compute);  // after a failure none of the later ones may run
  }
  operation op{.work = [work = v.work, k, parameters = v.parameters.block,
                        blocks = micro_batch_blocks{batch.input.block, batch.second.block, output},
                        results = v.results] { work->run(k, parameters, blocks, results); },
               .bytes = {},
               .estimate = v.model->plan.computing_time_of(v.what) / v.what.micro_batches,
               .label = label("execute_shard", v, k)};
  ++v.next_op;
  batch.compute = submit(queue_kind::compute, std::move(op), after,
                         {.owner = &v, .kind = op_kind::compute, .batch = k, .lease = {}, .bytes = {}, .label = {}});
  batch.phase = micro_batch_phase::submitted;
  batch.output = output;
  batch.input.block.reset();
  batch.second.block.reset();
  submit_demotions(v, k, output);
  if (v.all_submitted()) {
    if (options_.copy_back_clean && !has_gradients(v.what)) {
      copy_back(v);  // after the outputs, for which others wait
    }
    v.parameters.block.reset();
  }
}

/// Ablation: a system that copies unchanged blocks back, too. The bytes stay pinned until they have been copied.
void device_pipeline::copy_back(visit_record& v) {
  const auto id = parameters_of(v.what);
  const auto bytes = v.model->plan.bytes_of(id);
  cache_.pin(id);
  operation op{.work = copy_for_nothing(v.parameters.block, copied_back_),
               .bytes = bytes,
               .estimate = {},
               .label = label("copy_back", v, id)};
  const std::vector<ticket> after{v.batches.back().compute};
  submit(queue_kind::d2h, std::move(op), after,
         {.owner = &v, .kind = op_kind::copy_back, .batch = 0, .lease = {}, .bytes = bytes, .label = {}});
}

void device_pipeline::end_copy_back(const visit_record& v) {
  const auto id = parameters_of(v.what);
  cache_.unpin(id);
  if (!options_.cache) {
    cache_.drop(id);
  }
}

void device_pipeline::submit_demotions(visit_record& v, std::size_t k, const device_block_ptr& output) {
  const auto index = v.index_of(k);
  if (const auto out = output_of(v.what, v.model->size(), index)) {
    keep_output(v, *out, output, v.batches[k].compute);
    demote(v, op_kind::demote_output, k, *out, output, v.batches[k].compute);
  } else {
    v.batches[k].phase = micro_batch_phase::written_back;
  }
  if (!v.micro_batches_submitted()) {
    return;
  }
  const auto after = v.batches[k].compute;
  if (v.results.gradients && !v.steps()) {
    demote(v, op_kind::demote_gradients, k, gradients_of(v.what), std::exchange(v.results.gradients, {}), after);
  }
  if (v.results.loss) {
    demote(v, op_kind::demote_loss, k, loss_of(v.what), std::exchange(v.results.loss, {}), after);
  }
}

/// An output stays in the cache if another unit could still be staged next to it.
void device_pipeline::keep_output(visit_record& v, const block_id& id, const device_block_ptr& block, ticket ready) {
  const auto bytes = v.model->plan.room_for(id);
  if (!options_.cache || cache_.peek(id) || budget_.left() + cache_.evictable() < bytes + options_.staging_bytes) {
    return;
  }
  if (auto claim = cache_.make_room(bytes)) {
    cache_.insert(id, std::move(*claim), block, /*dirty=*/true);
    cache_.set_ready(id, ready);
    cache_.unpin(id);
    v.inserted.push_back(id);
  }
}

void device_pipeline::demote(visit_record& v, op_kind kind, std::size_t k, const block_id& id, device_block_ptr from,
                             ticket after) {
  const auto bytes = v.model->plan.bytes_of(id);
  operation op{.work = copy_out(std::move(from), v.outputs.at(id)),
               .bytes = bytes,
               .estimate = {},
               .label = label("demote_shard", v, id)};
  v.write_back.push_back(submit(queue_kind::d2h, std::move(op), std::vector{after},
                             {.owner = &v, .kind = kind, .batch = k, .lease = {}, .bytes = bytes, .label = {}}));
}

operation_label device_pipeline::label(const char* name, const visit_record& v, const block_id& id) const {
  return {name, options_.labels ? fmt::format("{} of {}", to_string(id.kind), v.detail()) : std::string{}};
}

operation_label device_pipeline::label(const char* name, const visit_record& v, std::size_t k) const {
  return {name, options_.labels ? fmt::format("{} micro-batch {}", v.detail(), v.index_of(k).value) : std::string{}};
}

ticket device_pipeline::submit(queue_kind queue, operation op, std::span<const ticket> after, operation_record record) {
  record.label = op.label;
  ++record.owner->outstanding;
  const auto t = machine_.submit(queue, std::move(op), after);
  operations_.emplace(t.value, std::move(record));
  return t;
}

}  // namespace hydra
