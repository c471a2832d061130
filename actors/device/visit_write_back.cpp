#include "actors/device/visit_write_back.hpp"

#include "partition/graph/dataflow.hpp"
#include "runtime/memory/block_copy.hpp"

#include <optional>
#include <utility>

namespace hydra {

void visit_write_back::submit_outputs(visit_record& v, std::size_t k, const device_block_ptr& output) {
  auto& batch = v.batches[k];
  if (const auto out = output_of(v.what, v.model->plan.shape(), v.index_of(k))) {
    keep_in_cache(v, *out, output, batch.compute);
    submit(v, {.kind = operation_kind::demote_output, .batch = k, .id = *out, .from = output, .after = batch.compute});
  } else {
    batch.phase = micro_batch_phase::written_back;
  }
  if (v.micro_batches_submitted()) {
    submit_results(v, k);
  }
}

void visit_write_back::submit_results(visit_record& v, std::size_t k) {
  const auto after = v.batches[k].compute;
  if (v.results.gradients && !v.steps()) {
    const auto id = gradients_of(v.what);
    if (!v.model->plan.is_last_wave(v.what)) {
      keep_in_cache(v, id, v.results.gradients, after);  // the next wave may follow here
    }
    submit(v, {.kind = operation_kind::demote_gradients, .batch = k, .id = id,
               .from = std::exchange(v.results.gradients, {}), .after = after});
  }
  if (v.results.loss) {
    submit(v, {.kind = operation_kind::demote_loss, .batch = k, .id = loss_of(v.what),
               .from = std::exchange(v.results.loss, {}), .after = after});
  }
}

/// Parameters first: they stay for the next visit of the shard, which may follow at once.
void visit_write_back::submit_stepped(visit_record& v, const device_block_ptr& stepped,
                                      const std::vector<staged_block>& state) {
  const auto id = stepped_parameters_of(v.what);
  const auto after = v.stepping.compute;
  keep_in_cache(v, id, stepped, after);
  if (state_.cache.peek(id) && v.decides_hit(id)) {
    slots_.add_cached(id);
  }
  submit(v, {.kind = operation_kind::demote_parameters, .id = id, .from = stepped, .after = after});
  for (std::size_t i = 0; i < state.size(); ++i) {
    submit(v, {.kind = operation_kind::demote_state, .id = stepped_state_block(v.what, i), .from = state[i].block,
               .after = after});
  }
}

void visit_write_back::submit(visit_record& v, copy_out_request r) {
  operation op{.work = copy_out(std::move(r.from), v.outputs.at(r.id)),
               .bytes = v.model->plan.bytes_of(r.id),
               .estimate = {},
               .label = state_.labels.of_block("demote_shard", v, r.id)};
  v.write_back.push_back(
      state_.operations.submit(std::move(op), {&r.after, 1}, {.owner = &v, .kind = r.kind, .batch = r.batch}));
}

/// An output stays in the cache if another unit could still be staged next to it.
void visit_write_back::keep_in_cache(visit_record& v, const block_id& id, const device_block_ptr& block, ticket ready) {
  auto& cache = state_.cache;
  const auto bytes = v.model->plan.room_for(id);
  const auto free = state_.budget.left() + cache.evictable(block_cache::evicts::all_but_saved);
  const bool no_room = free < bytes + state_.options.staging_bytes;
  if (!state_.options.cache || cache.peek(id) || no_room) {
    return;
  }
  if (auto claim = cache.make_room(bytes)) {
    cache.insert(id, std::move(*claim), block, /*dirty=*/true);
    cache.set_ready(id, ready);
    cache.unpin(id);
    v.inserted.push_back(id);
  }
}

void visit_write_back::submit_copy_back(visit_record& v) {
  const auto id = parameters_of(v.what);
  state_.cache.pin(id);
  operation op{.work = copy_for_nothing(v.parameters.block, copied_back_),
               .bytes = v.model->plan.bytes_of(id),
               .estimate = {},
               .label = state_.labels.of_block("copy_back", v, id)};
  state_.operations.submit(std::move(op), {&v.batches.back().compute, 1},
                           {.owner = &v, .kind = operation_kind::copy_back});
}

void visit_write_back::end_copy_back(const visit_record& v) {
  const auto id = parameters_of(v.what);
  state_.cache.unpin(id);
  if (!state_.options.cache) {
    state_.cache.drop(id);
  }
}

void visit_write_back::written_back(const operation_record& op) {
  auto& v = *op.owner;
  std::optional<block_id> kept;
  if (op.kind == operation_kind::demote_output) {
    v.batches[op.batch].phase = micro_batch_phase::written_back;
    kept = output_of(v.what, v.model->plan.shape(), v.index_of(op.batch));
  } else if (op.kind == operation_kind::demote_gradients) {
    kept = gradients_of(v.what);
  } else if (op.kind == operation_kind::demote_parameters) {
    kept = stepped_parameters_of(v.what);
  }
  if (kept && state_.cache.peek(*kept)) {
    state_.cache.set_clean(*kept);
  }
}

}  // namespace hydra
