#include "actors/device/device_pipeline.hpp"

#include "partition/graph/dataflow.hpp"

#include <algorithm>
#include <utility>

// Handling of completions, and the end of a unit: demoted, or failed together with the units that depend on it.

namespace hydra {

namespace {

/// Time within [begin, end) that at least one of the copies covers.
template <class Interval>
duration covered(std::vector<Interval> copies, time_point begin, time_point end) {
  std::ranges::sort(copies, {}, &Interval::begin);
  duration sum{};
  for (const auto& copy : copies) {
    const auto from = std::max(copy.begin, begin);
    const auto to = std::min(copy.end, end);
    sum += to > from ? to - from : duration{};
    begin = std::max(begin, to);
  }
  return sum;
}

}  // namespace

// -- events ---------------------------------------------------------------------------------------------------------------

void device_pipeline::count(const operation_record& op, const completion& c) {
  if (c.error.code == fault_code::dependency_failed || c.error.code == fault_code::cancelled) {
    return;  // it never ran
  }
  auto& v = *op.owner;
  const auto took = c.end - c.begin;
  const char* queue = "compute";
  switch (op.kind) {
    case op_kind::compute:
    case op_kind::step:
      counters_.busy += took;
      v.times.compute += took;
      break;
    case op_kind::promote:
      v.times.promote = v.times.promote.value_or(duration{}) + took;
      [[fallthrough]];
    case op_kind::promote_input:
      counters_.h2d_bytes += op.bytes;
      copies_in_.push_back({c.begin, c.end});
      v.waits.last_copy_in = c.end;
      queue = "h2d";
      break;
    case op_kind::demote_gradients:
      v.times.demote = v.times.demote.value_or(duration{}) + took;
      [[fallthrough]];
    default:
      counters_.d2h_bytes += op.bytes;
      copies_out_.push_back({c.begin, c.end});
      queue = "d2h";
  }
  if (spans_) {
    spans_->record({op.label.name, machine_.info().name + " " + queue, c.begin, c.end, op.label.detail});
  }
}

void device_pipeline::on_promoted(const operation_record& op) {
  const auto found = leases_.find(op.lease.value);
  if (found != leases_.end() && --found->second.copies == 0) {
    leases_.erase(found);
    port_.return_lease(op.lease);
  }
}

/// The part of the idle time before a computation that is due to copies: copies in until the unit's last one had ended
/// (others may have been before it in the queue), and copies out that it had to wait for.
void device_pipeline::expose(visit_record& v, time_point begin) {
  auto& times = v.times;
  const auto from = std::max(last_compute_end_.value_or(times.placed), times.placed);
  auto copies = std::exchange(copies_in_, {});
  std::erase_if(copies, [&](const copy_interval& c) { return !v.waits.last_copy_in || c.begin >= *v.waits.last_copy_in; });
  const auto inward = covered(copies, from, begin);
  const auto outward = std::exchange(copies_out_, {});
  if (v.waits.for_copies_out) {
    copies.insert(copies.end(), outward.begin(), outward.end());
  }
  const auto both = covered(std::move(copies), from, begin);
  times.exposed_h2d += inward;
  times.exposed_d2h += both - inward;
  counters_.exposed_transfer += both;
}

void device_pipeline::on_computed(visit_record& v, const operation_record& op, const completion& c) {
  expose(v, c.begin);
  if (op.kind == op_kind::step) {
    v.stepping.phase = step_phase::computed;
  } else {
    if (op.batch == 0) {
      v.times.begin = c.begin;
      v.times.idle_since = last_compute_end_;
    }
    ++v.computed;
  }
  v.times.end = c.end;
  last_compute_end_ = c.end;
  if (!v.failed() && v.all_computed()) {
    finish_compute(v);
  }
}

void device_pipeline::finish_compute(visit_record& v) {
  enter(v, visit_phase::write_back);
  for (const auto& id : v.pins) {
    cache_.unpin(id);
    if (!options_.cache) {
      cache_.drop(id);
    }
  }
  v.pins.clear();
  v.working->until_computed.clear();
  if (has_gradients(v.what)) {
    cache_.drop(parameters_of(v.what));  // the next version comes from the optimizer, or was computed here
  }
  for (const auto& id : consumed_by(v.what, v.model->size())) {
    cache_.drop(id);
  }
}

void device_pipeline::on_written_back(visit_record& v, const operation_record& op) {
  if (op.kind == op_kind::demote_output) {
    v.batches[op.batch].phase = micro_batch_phase::written_back;
    const auto out = output_of(v.what, v.model->size(), v.index_of(op.batch));
    if (out && cache_.peek(*out)) {
      cache_.set_clean(*out);
    }
  }
  if (op.kind == op_kind::demote_parameters && cache_.peek(stepped_parameters_of(v.what))) {
    cache_.set_clean(stepped_parameters_of(v.what));
  }
}

// -- ends -----------------------------------------------------------------------------------------------------------------

/// Stores the cause; the visit ends (in advance()) when none of its operations is outstanding. Later units of the model
/// fail with it: what they read here will not be written back, so they must not be committed.
void device_pipeline::fail(visit_record& v, const fault& why) {
  const bool first = !v.failed();
  if (first || (v.failure.cause.code == fault_code::dependency_failed && why.code != fault_code::dependency_failed)) {
    v.failure.cause = why;
  }
  if (why.code == fault_code::out_of_memory) {
    cache_.evict_all();
  }
  if (first) {
    fail_successors(v);
  }
}

void device_pipeline::fail_successors(const visit_record& v) {
  bool later = false;
  for (auto& other : visits_) {
    if (later && other->alive() && other->what.model == v.what.model) {
      other->failure.cause = {fault_code::dependency_failed, to_string(v.what) + " failed before it"};
    }
    later = later || other.get() == &v;
  }
}

/// A unit that arrives while one before it is failing: the model has not been notified yet. (If that one was withdrawn
/// the model has been notified, and this is the next attempt.)
bool device_pipeline::fail_with_predecessor(visit_record& v) {
  for (const auto& other : visits_) {
    if (other.get() == &v) {
      return false;
    }
    const bool failing = other->failed() && !other->failure.withdrawn && !other->ended();
    if (failing && other->what.model == v.what.model) {
      fail(v, {fault_code::dependency_failed, to_string(other->what) + " fails before it"});
      return true;
    }
  }
  return false;
}

/// Units end in the order of the chain, in whatever order the queues complete: the host must never have the outputs of
/// a unit without those of the unit before, and a failure that is reported before its cause would be retried in vain.
bool device_pipeline::may_end(const visit_record& v) const {
  const bool over = v.failed() ? v.leases_awaited == 0 : v.phase() == visit_phase::write_back;
  if (!over || v.outstanding > 0 || v.ended()) {
    return false;
  }
  // Bytes taken over from the unit before may still be in use there.
  if (!std::ranges::all_of(v.start_after, [this](ticket t) { return done(t); })) {
    return false;
  }
  const auto first = std::ranges::find_if(visits_, [&](const auto& other) {
    return other->what.model == v.what.model && !other->ended();
  });
  return first->get() == &v;
}

/// Operations enqueued after a failed one fail, too. Reported at once, so that no third unit is enqueued behind the
/// second: otherwise units of several models would pass the failure on for ever.
void device_pipeline::fail_behind(ticket failed) {
  for (auto& v : visits_) {
    if (v->alive() && std::ranges::find(v->start_after, failed) != v->start_after.end()) {
      fail(*v, {fault_code::dependency_failed, to_string(v->what) + " was enqueued behind what failed"});
    }
  }
}

void device_pipeline::release(visit_record& v) {
  for (const auto& id : std::exchange(v.pins, {})) {
    cache_.unpin(id);
  }
  v.release();
}

void device_pipeline::end_failed(visit_record& v) {
  if (v.model) {
    for (const auto& id : written_back_by(v.what, v.model->plan)) {
      if (cache_.peek(id)) {
        cache_.set_clean(id);
        cache_.drop(id);
      }
    }
  }
  const auto inserted = std::exchange(v.inserted, {});
  release(v);
  for (const auto& id : inserted) {
    cache_.drop(id);
  }
  enter(v, visit_phase::ended);
  port_.failed(v.what, v.failure.cause);
}

void device_pipeline::end_demoted(visit_record& v) {
  release(v);
  enter(v, visit_phase::ended);
  v.times.speed = machine_.info().speed;
  port_.demoted(v.what, v.times);
}

}  // namespace hydra
