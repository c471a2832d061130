#include "actors/device/device_pipeline.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {

device_pipeline::device_pipeline(device& machine, pipeline_port& port, trace* spans, const pipeline_options& options)
    : state_(machine, options),
      slots_(state_, port),
      accounts_(machine, spans),
      staging_(state_, slots_, accounts_, port),
      write_back_(state_, slots_),
      computing_(state_, staging_, write_back_),
      failing_(state_),
      ending_(state_, slots_, port) {}

void device_pipeline::start() { slots_.offer_all(); }

// -- messages ---------------------------------------------------------------------------------------------------------

void device_pipeline::prefetch(const unit& u, const placement_times& when) {
  auto& v = state_.visits.record(u);
  v.messages.prefetch = true;
  v.times.available = when.available;
  v.times.placed = when.placed;
  advance();
}

void device_pipeline::execute(const unit& u, sharded_model_ptr model, std::size_t targets) {
  auto& v = state_.visits.record(u);
  v.messages.execute = true;
  v.begin(std::move(model), targets);
  advance();
}

void device_pipeline::withdraw(const unit& u, bool unless_started) {
  auto* v = state_.visits.find(u);
  const bool there = v && !v->ended();
  if (there && !(unless_started && v->phase() >= visit_phase::running)) {
    v->failure.withdrawn = true;
    failing_.fail(*v, {fault_code::cancelled, to_string(u) + " was withdrawn"});
  }
  advance();
}

void device_pipeline::leased(ticket lease, std::span<const host_block_ptr> reads,
                             std::span<const host_block_ptr> outputs) {
  if (staging_.leased(lease, reads, outputs)) {
    advance();
  }
}

void device_pipeline::refused(ticket lease, const fault& why) {
  if (auto* v = staging_.refused(lease)) {
    failing_.fail(*v, why);
  }
  advance();
}

void device_pipeline::completed(const completion& c) {
  const auto op = state_.operations.take(c.operation);
  if (!op) {
    return;
  }
  accounts_.completed(*op, c);
  const auto queue = queue_of(op->kind);
  if (queue == queue_kind::h2d) {
    staging_.copied(op->lease);
  } else if (op->kind == operation_kind::copy_back) {
    write_back_.end_copy_back(*op->owner);
  }
  if (c.error) {
    failing_.fail_operation(*op->owner, c);
  } else if (queue == queue_kind::compute) {
    on_computed(*op, c);
  } else if (op->kind == operation_kind::demote) {
    write_back_.written_back(*op);
  }
  advance();
}

void device_pipeline::on_computed(const operation_record& op, const completion& c) {
  auto& v = *op.owner;
  accounts_.computed(op, c);
  if (op.kind == operation_kind::step) {
    v.stepping.phase = step_phase::computed;
  } else {
    ++v.computed;
  }
  if (!v.failed() && v.all_computed()) {
    ending_.end_computing(v);
  }
}

/// In a simulation blocks have no memory and stay: nothing would be freed. Other models may read a base.
void device_pipeline::forget(model_id model) {
  for (const auto& id : state_.cache.ids()) {
    const bool real = id.kind == block_kind::saved || has_tensor(*state_.cache.peek(id)->block);
    if (id.model == model && id.kind != block_kind::base && real) {
      state_.cache.drop(id);
    }
  }
  advance();
}

// -- the loop ---------------------------------------------------------------------------------------------------------

/// Every event may unblock any visit; a port that answers at once must not start a second loop inside the first.
void device_pipeline::advance() {
  if (std::exchange(advancing_, true)) {
    return;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < state_.visits.all().size(); ++i) {
      changed = step(*state_.visits.all()[i]) || changed;
    }
    mark_started();
  }
  advancing_ = false;
  state_.visits.erase_ended();
  if (!state_.visits.any_failing()) {
    state_.operations.forget_failed();  // their blocks were released with the units that held them
  }
  slots_.report();
}

bool device_pipeline::step(visit_record& v) {
  if (ending_.may_end(v)) {
    ending_.end(v);
    return true;
  }
  if (!v.alive()) {
    return false;
  }
  if (v.phase() == visit_phase::claiming) {
    return failing_.fail_with_predecessor(v) || staging_.claim(v);
  }
  const bool asked = staging_.request_homes(v);
  const bool submits = v.phase() == visit_phase::staged || v.phase() == visit_phase::running;
  return (submits && computing_.advance(v)) || asked;
}

/// A unit starts when nothing computes before it and everything that its first computation waits for has completed.
void device_pipeline::mark_started() {
  for (const auto& v : state_.visits.all()) {
    if (!v->alive() || v->phase() == visit_phase::write_back) {
      continue;
    }
    const bool submitted = v->phase() == visit_phase::staged && v->next_op > 0;
    if (submitted && state_.operations.all_done(v->start_after)) {
      slots_.enter(*v, visit_phase::running);
    }
    return;  // it runs, or it has not started: no later one has
  }
}

// -- facts ------------------------------------------------------------------------------------------------------------

bool device_pipeline::quiet() const {
  const auto& cache = state_.cache;
  return visits() == 0 && state_.operations.empty() && staging_.quiet() && state_.budget.used() == cache.resident() &&
         cache.evictable() == cache.resident() && !state_.operations.any_failed();
}

std::string device_pipeline::describe() const {
  std::string text;
  for (const auto& v : state_.visits.all()) {
    text += fmt::format("{}: {} is {}, {} operations and {} leases outstanding, {} of {} micro-batches computed\n",
                        state_.machine.info().name, to_string(v->what), to_string(v->phase()), v->outstanding,
                        v->leases_awaited, v->computed, v->what.micro_batches);
  }
  return text;
}

}  // namespace hydra
