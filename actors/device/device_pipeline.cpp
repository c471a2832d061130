#include "actors/device/device_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

byte_count usable(const device_info& info) { return info.memory > info.reserve ? info.memory - info.reserve : byte_count{}; }

}  // namespace

device_pipeline::device_pipeline(device& machine, pipeline_port& port, trace* spans, const pipeline_options& options)
    : machine_(machine),
      port_(port),
      spans_(spans),
      options_(options),
      budget_(machine.info().name, usable(machine.info())),
      cache_(budget_) {}

device_pipeline::~device_pipeline() = default;

void device_pipeline::start() {
  for (std::uint32_t i = 0; i < options_.slots; ++i) {
    port_.freed(1, std::nullopt, {}, {});
  }
}

// -- messages -------------------------------------------------------------------------------------------------------------

visit_record& device_pipeline::record(const unit& u) {
  const auto found = std::ranges::find_if(visits_, [&](const auto& v) { return v->what == u; });
  if (found != visits_.end()) {
    return **found;
  }
  visits_.push_back(std::make_unique<visit_record>(u));
  return *visits_.back();
}

void device_pipeline::prefetch(const unit& u, const placement_times& when) {
  auto& v = record(u);
  v.messages.prefetch = true;
  v.times.available = when.available;
  v.times.placed = when.placed;
  advance();
}

void device_pipeline::execute(const unit& u, sharded_model_ptr model, std::size_t targets) {
  auto& v = record(u);
  v.messages.execute = true;
  v.work = std::make_shared<visit>(model, u, targets);
  v.model = std::move(model);
  advance();
}

void device_pipeline::withdraw(const unit& u, bool unless_started) {
  const auto found = std::ranges::find_if(visits_, [&](const auto& v) { return v->what == u; });
  const bool there = found != visits_.end() && !(*found)->ended();
  if (there && !(unless_started && (*found)->phase() >= visit_phase::running)) {
    (*found)->failure.withdrawn = true;
    fail(**found, {fault_code::cancelled, to_string(u) + " was withdrawn"});
  }
  advance();
}

void device_pipeline::leased(ticket lease, std::span<const host_block_ptr> reads, std::span<const host_block_ptr> outputs) {
  const auto found = leases_.find(lease.value);
  if (found == leases_.end()) {
    return;
  }
  auto& l = found->second;
  auto& v = *l.owner;
  --v.leases_awaited;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    v.outputs.emplace(l.outputs[i], outputs[i]);
  }
  if (v.failed()) {
    port_.return_lease(lease);
    leases_.erase(found);
  } else {
    for (std::size_t i = 0; i < reads.size(); ++i) {
      submit_promotion(l, lease, l.reads[i], reads[i]);
    }
    if (l.staging) {
      enter(v, visit_phase::staged);
    }
    if (!reads.empty() && l.reads.front().kind == block_kind::state) {
      ++v.stepping.promoted;
    } else {
      v.batches[l.batch].phase = micro_batch_phase::fetched;
    }
    if (reads.empty()) {
      leases_.erase(found);
    }
  }
  advance();
}

void device_pipeline::refused(ticket lease, const fault& why) {
  const auto found = leases_.extract(lease.value);
  if (!found.empty()) {
    auto& v = *found.mapped().owner;
    --v.leases_awaited;
    fail(v, why);
  }
  advance();
}

void device_pipeline::completed(const completion& c) {
  const auto found = operations_.extract(c.operation.value);
  if (found.empty()) {
    return;
  }
  const auto& op = found.mapped();
  auto& v = *op.owner;
  --v.outstanding;
  count(op, c);
  if (op.kind == op_kind::promote || op.kind == op_kind::promote_input) {
    on_promoted(op);
  }
  if (op.kind == op_kind::copy_back) {
    end_copy_back(v);
  }
  if (c.error) {
    failed_.insert(c.operation.value);
    fail(v, c.error);
    fail_behind(c.operation);
  } else if (op.kind == op_kind::compute || op.kind == op_kind::step) {
    on_computed(v, op, c);
  } else if (op.kind != op_kind::promote && op.kind != op_kind::promote_input) {
    on_written_back(v, op);
  }
  advance();
}

/// In a simulation blocks have no memory and stay: nothing would be freed.
void device_pipeline::forget(model_id model) {
  for (const auto& id : cache_.ids()) {
    if (id.model == model && has_tensor(*cache_.peek(id)->block)) {
      cache_.drop(id);
    }
  }
  advance();
}

// -- the loop -------------------------------------------------------------------------------------------------------------

/// Every event may unblock any visit; a port that answers at once must not start a second loop inside the first.
void device_pipeline::advance() {
  if (std::exchange(advancing_, true)) {
    return;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < visits_.size(); ++i) {
      changed = step(*visits_[i]) || changed;
    }
    mark_started();
  }
  advancing_ = false;
  erase_ended();
  say_state();
}

bool device_pipeline::step(visit_record& v) {
  if (may_end(v)) {
    v.failed() ? end_failed(v) : end_demoted(v);
    return true;
  }
  if (!v.alive()) {
    return false;
  }
  if (v.phase() == visit_phase::claiming) {
    return fail_with_predecessor(v) || (v.messages.both() && first_to_claim(v) && try_claim(v));
  }
  const bool submits = v.phase() == visit_phase::staged || v.phase() == visit_phase::running;
  return submits && !v.all_submitted() && first_to_submit(v) && pump(v);
}

void device_pipeline::erase_ended() {
  std::erase_if(visits_, [](const auto& v) { return v->ended() && v->messages.both(); });
  if (std::ranges::none_of(visits_, [](const auto& v) { return v->failed() && !v->ended(); })) {
    failed_.clear();  // their blocks were released with the units that held them
  }
}

/// A unit starts when nothing computes before it and everything that its first computation waits for has completed.
void device_pipeline::mark_started() {
  for (auto& v : visits_) {
    if (!v->alive() || v->phase() == visit_phase::write_back) {
      continue;
    }
    if (v->phase() != visit_phase::staged || v->next_op == 0) {
      return;  // it runs, or is not even submitted: no later one has started
    }
    if (!std::ranges::all_of(v->start_after, [this](ticket t) { return done(t); })) {
      return;
    }
    enter(*v, visit_phase::running);
    return;
  }
}

/// The only place where a phase changes. A unit that leaves its slot gives its credit back.
void device_pipeline::enter(visit_record& v, visit_phase next) {
  const bool leaves = occupies_slot(v.phase()) && !occupies_slot(next);
  v.set_phase(next);
  if (leaves && v.messages.prefetch) {
    ++credits_due_;
  }
}

bool device_pipeline::occupies_slot(visit_phase phase) const noexcept {
  return phase < (options_.double_buffer ? visit_phase::running : visit_phase::write_back);
}

void device_pipeline::say_state() {
  const auto runs = std::ranges::find_if(visits_, [](const auto& v) { return v->phase() == visit_phase::running; });
  const auto running = runs == visits_.end() ? std::nullopt : std::optional((*runs)->what);
  const bool changed = running != running_;
  running_ = running;
  if (!changed && credits_due_ == 0) {
    return;
  }
  const auto credits = std::exchange(credits_due_, 0);
  port_.freed(credits > 0 ? 1 : 0, running, std::exchange(newly_cached_, {}), cache_.take_dropped());
  for (std::uint32_t i = 1; i < credits; ++i) {
    port_.freed(1, running, {}, {});
  }
}

// -- facts ----------------------------------------------------------------------------------------------------------------

std::size_t device_pipeline::visits() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(visits_, [](const auto& v) { return !v->ended(); }));
}

bool device_pipeline::quiet() const {
  return visits() == 0 && operations_.empty() && leases_.empty() && budget_.used() == cache_.resident() &&
         cache_.evictable() == cache_.resident() && failed_.empty();
}

std::string device_pipeline::describe() const {
  std::string text;
  for (const auto& v : visits_) {
    text += fmt::format("{}: {} is {}, {} operations and {} leases outstanding, {} of {} micro-batches computed\n",
                        machine_.info().name, to_string(v->what), to_string(v->phase()), v->outstanding,
                        v->leases_awaited, v->computed, v->what.micro_batches);
  }
  return text;
}

}  // namespace hydra
