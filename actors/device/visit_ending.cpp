#include "actors/device/visit_ending.hpp"

#include "partition/graph/dataflow.hpp"

#include <utility>

namespace hydra {

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
  const auto& plan = v.model->plan;
  const bool ends_version = has_gradients(v.what) && plan.replicas == 1 && plan.is_last_wave(v.what);
  if (ends_version || v.what.shard.value < plan.first_trained) {  // of a frozen shard it is empty
    cache.drop(parameters_of(v.what));  // the next version comes from the optimizer, or was computed here
  }
  for (const auto& id : consumed_by(v.what, v.model->plan.shape())) {
    cache.drop(id);
  }
  drop_saved(v);
}

/// A backward visit uses up what it was given of it, even if it fails.
void visit_ending::drop_saved(const visit_record& v) {
  for (std::size_t k = 0; v.what.way == direction::backward && k < v.batches.size(); ++k) {
    if (v.batches[k].spared) {
      state_.cache.drop(v.saved(k));
    }
  }
}

bool visit_ending::may_end(const visit_record& v) const {
  const bool over = v.failed() ? v.leases_awaited == 0 : v.phase() == visit_phase::write_back;
  if (!over || v.outstanding > 0 || v.ended()) {
    return false;
  }
  // Bytes taken over from the unit before may still be in use there.
  return state_.operations.all_done(v.start_after) && state_.visits.first_before(v.what) == &v;
}

void visit_ending::end(visit_record& v) { v.failed() ? end_failed(v) : end_demoted(v); }

void visit_ending::end_failed(visit_record& v) {
  if (v.model) {
    drop_outputs(v);
    drop_saved(v);
  }
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
  for (const auto& id : written_back_by(v.what, v.model->plan)) {
    if (state_.cache.peek(id)) {
      state_.cache.set_clean(id);
      state_.cache.drop(id);
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
