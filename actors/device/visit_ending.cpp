#include "actors/device/visit_ending.hpp"

#include <utility>

namespace hydra {

namespace {

bool reads_last(const visit_record& v, const block_use& use) { return v.graph().last_reader(use.block) == v.node; }

}  // namespace

void visit_ending::end_computing(visit_record& v) {
  slots_.enter(v, visit_phase::write_back);
  auto& cache = state_.cache;
  for (const auto& id : std::exchange(v.pins, {})) {
    cache.unpin(id);
    if (!state_.options.cache) {
      cache.drop(id);
    }
  }
  v.working->until_computed.clear();
  drop_what_was_read(v);
  drop_saved(v);
}

/// A version that units of its step still read stays; the next one comes from the optimizer, or was computed here. Of a
/// frozen shard it is empty.
void visit_ending::drop_what_was_read(const visit_record& v) {
  const auto& parameters = v.reads(block_role::parameters)->use;
  const bool in_step = v.what.way != direction::evaluate;
  if ((in_step && reads_last(v, parameters)) || v.what.shard.value < v.model->plan.first_trained) {
    state_.cache.drop(v.name(parameters));
  }
  const auto is_dropped = [&](const visit_input& in, std::size_t k) {
    const bool own = fetched(in.use.role) == fetch_time::with_micro_batch;
    const bool now = own ? in.covers(k) : k + 1 == v.batches.size();  // a sum follows the last micro-batch's inputs
    return now && v.graph().block(in.use.block).life == block_life::of_step && reads_last(v, in.use);
  };
  for (std::size_t k = 0; k < v.batches.size(); ++k) {
    for (const auto& in : v.inputs) {
      if (is_dropped(in, k)) {
        state_.cache.drop(v.name(in.use, in.part_of(k)));
      }
    }
  }
}

/// What it was given of saved tensors is used up, even if it fails.
void visit_ending::drop_saved(const visit_record& v) {
  for (std::size_t k = 0; k < v.batches.size(); ++k) {
    if (v.batches[k].spared) {
      state_.cache.drop(v.name(v.reads(block_role::saved)->use, k));
    }
  }
}

bool visit_ending::may_end(const visit_record& v) const {
  const bool over = v.failed() ? v.leases_awaited == 0 : v.phase() == visit_phase::write_back;
  if (!over || v.outstanding > 0 || v.ended()) {
    return false;
  }
  // Bytes taken over from the unit before may still be in use there.
  return state_.operations.all_done(v.start_after) && state_.visits.first_before(v) == &v;
}

void visit_ending::end(visit_record& v) { v.failed() ? end_failed(v) : end_demoted(v); }

void visit_ending::end_failed(visit_record& v) {
  drop_outputs(v);
  drop_saved(v);
  const auto inserted = std::exchange(v.inserted, {});
  release(v);
  for (const auto& id : inserted) {
    state_.cache.drop(id);
  }
  slots_.enter(v, visit_phase::ended);
  port_.failed(v.what, v.failure.cause);
}

void visit_ending::end_demoted(visit_record& v) {
  release(v);
  slots_.enter(v, visit_phase::ended);
  v.times.speed = state_.machine.info().speed;
  port_.demoted(v.what, v.times);
}

void visit_ending::drop_outputs(const visit_record& v) {
  for (const auto& out : v.outputs) {
    for (std::size_t k = 0; k < out.parts.size(); ++k) {
      if (const auto id = v.name(out.use, k); state_.cache.peek(id)) {
        state_.cache.set_clean(id);
        state_.cache.drop(id);
      }
    }
  }
}

void visit_ending::release(visit_record& v) {
  for (const auto& id : std::exchange(v.pins, {})) {
    state_.cache.unpin(id);
  }
  v.release();
}

}  // namespace hydra
