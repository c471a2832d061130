#include "actors/device_pipeline.hpp"

#include "partition/dataflow.hpp"
#include "runtime/accounting_allocator.hpp"
#include "runtime/block_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

/// How many micro-batches of outputs a visit may have on the device (footprint: they stream, two at a time).
constexpr std::size_t output_window = 2;

byte_count usable(const device_info& info) { return info.memory > info.reserve ? info.memory - info.reserve : byte_count{}; }

std::string detail_of(const visit_record& v) {
  return fmt::format("{} {} {} step {}", v.model->name, to_string(v.what.way), v.what.shard.value, v.what.step.value);
}

/// Of micro-batch number `k` of the visit, in its step or evaluation.
micro_batch_index index_of(const visit_record& v, std::size_t k) {
  return micro_batch_index{v.what.first_micro_batch.value + static_cast<std::uint32_t>(k)};
}

byte_count total(const std::vector<reservation>& parts) {
  byte_count sum;
  for (const auto& part : parts) {
    sum += part.bytes();
  }
  return sum;
}

/// Moves exactly `n` bytes of claims; there are as many.
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

/// Time within [begin, end) that at least one of the copies covers.
duration covered(std::vector<copy_interval> copies, time_point begin, time_point end) {
  std::ranges::sort(copies, {}, &copy_interval::begin);
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
  visits_.push_back(std::make_unique<visit_record>());
  visits_.back()->what = u;
  visits_.back()->batches.resize(u.micro_batches);
  return *visits_.back();
}

void device_pipeline::prefetch(const unit& u, const placement_times& when) {
  auto& v = record(u);
  v.placed = true;
  v.times.available = when.available;
  v.times.placed = when.placed;
  advance();
}

void device_pipeline::execute(const unit& u, sharded_model_ptr model, std::size_t targets) {
  auto& v = record(u);
  v.ordered = true;
  v.targets = targets;
  v.work = std::make_shared<visit>(model, u, targets);
  v.model = std::move(model);
  advance();
}

void device_pipeline::withdraw(const unit& u) {
  const auto found = std::ranges::find_if(visits_, [&](const auto& v) { return v->what == u; });
  if (found != visits_.end() && (*found)->phase != visit_phase::ended) {
    (*found)->withdrawn = true;
    fail(**found, {fault_code::cancelled, to_string(u) + " was withdrawn"});
  }
  advance();
}

void device_pipeline::leased(ticket lease, std::span<const host_block_ptr> reads, std::span<const host_block_ptr> lands) {
  const auto found = leases_.find(lease.value);
  if (found == leases_.end()) {
    return;
  }
  auto& l = found->second;
  auto& v = *l.owner;
  --v.leases_awaited;
  for (std::size_t i = 0; i < lands.size(); ++i) {
    v.lands.emplace(l.lands[i], lands[i]);
  }
  if (v.error) {
    port_.return_lease(lease);
    leases_.erase(found);
  } else {
    for (std::size_t i = 0; i < reads.size(); ++i) {
      submit_promotion(l, lease, l.reads[i], reads[i]);
    }
    v.phase = l.staging ? visit_phase::staged : v.phase;
    v.batches[l.batch].fetched = true;
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
    fail(v, c.error);
    fail_behind(c.operation);
  } else if (op.kind == op_kind::compute) {
    on_computed(v, op, c);
  } else if (op.kind != op_kind::promote && op.kind != op_kind::promote_input) {
    on_landed(v, op);
  }
  advance();
}

// -- the loop -------------------------------------------------------------------------------------------------------------

/// Every event may let any visit go on; a port that answers at once must not start a second loop inside the first.
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
    v.error ? end_failed(v) : end_demoted(v);
    return true;
  }
  if (!v.alive()) {
    return false;
  }
  if (v.phase == visit_phase::claiming) {
    return fail_with_predecessor(v) || (v.placed && v.ordered && first_to_claim(v) && try_claim(v));
  }
  const bool submits = v.phase == visit_phase::staged || v.phase == visit_phase::running;
  return submits && !v.all_submitted() && first_to_submit(v) && pump(v);
}

void device_pipeline::erase_ended() {
  std::erase_if(visits_, [](const auto& v) { return v->phase == visit_phase::ended && v->placed && v->ordered; });
}

/// A unit starts when nothing computes before it and all that its first computation waits for is there.
void device_pipeline::mark_started() {
  for (auto& v : visits_) {
    if (!v->alive() || v->phase == visit_phase::landing) {
      continue;
    }
    if (v->phase != visit_phase::staged || v->next_op == 0) {
      return;  // it runs, or it is not even submitted: none behind it has started
    }
    if (!std::ranges::all_of(v->start_after, [this](ticket t) { return done(t); })) {
      return;
    }
    v->phase = visit_phase::running;
    if (options_.double_buffer) {
      return_credit(*v);
    }
    return;
  }
}

void device_pipeline::return_credit(visit_record& v) {
  if (!std::exchange(v.credit_returned, true) && v.placed) {
    ++credits_due_;
  }
}

void device_pipeline::say_state() {
  const auto runs = std::ranges::find_if(visits_, [](const auto& v) { return v->phase == visit_phase::running; });
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

// -- staging --------------------------------------------------------------------------------------------------------------

template <class Predicate>
bool device_pipeline::all_before(const visit_record& v, Predicate holds) const {
  for (const auto& other : visits_) {
    if (other.get() == &v) {
      return true;
    }
    if (other->alive() && !holds(*other)) {
      return false;
    }
  }
  return true;
}

/// At most one unit holds W without C: the budget has room for one W beside the unit that computes, and with more slots
/// a second W could take the bytes that the first unit needs to compute.
bool device_pipeline::first_to_claim(const visit_record& v) const {
  return all_before(v, [](const visit_record& other) { return other.next_op > 0; });
}

std::optional<staged_block> device_pipeline::live_output(const block_id& id) const {
  for (const auto& v : visits_) {
    if (v->what.model != id.model || !v->alive()) {
      continue;
    }
    for (std::size_t k = 0; k < v->next_op; ++k) {
      const auto out = output_of(v->what, v->model->size(), index_of(*v, k));
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
    for (std::uint32_t k = 0; k < v->what.micro_batches; ++k) {
      if (output_of(v->what, shards, index_of(*v, k)) == id) {
        return true;
      }
    }
    return false;
  });
}

/// What micro-batch `k` of a visit reads; with the first one the parameters.
std::vector<device_pipeline::wanted_block> device_pipeline::wanted(const visit_record& v, std::size_t k) const {
  std::vector<wanted_block> wants;
  const auto want = [&](const block_id& id) {
    wants.push_back({.id = id, .bytes = charged_bytes(v.model->plan.bytes_of(id)), .found = {}});
  };
  if (k == 0) {
    want(parameters_of(v.what));
  }
  const auto in = inputs_of(v.what, v.model->size(), index_of(v, k));
  want(in.input);
  if (in.second) {
    want(*in.second);
  }
  return wants;
}

/// By name: in the cache (or still landing), produced by a unit that computes here, else at home. False: it is
/// produced here but has left the device and its unit has not been demoted; home need not have it yet.
bool device_pipeline::resolve(const visit_record& v, wanted_block& w) {
  if (const auto* entry = cache_.find(w.id)) {
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

staged_block& device_pipeline::slot_of(visit_record& v, const block_id& id, std::size_t k) {
  if (id.kind == block_kind::parameters) {
    return v.parameters;
  }
  const auto in = inputs_of(v.what, v.model->size(), index_of(v, k));
  return in.input == id ? v.batches[k].input : v.batches[k].second;
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
    v.waits_for_landing = true;  // of what it reads, or of what holds the bytes
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
  v.batches[0].fetching = true;
  v.phase = visit_phase::leasing;
  request_lease(v, std::move(reads), produced_by(v.what, v.model->size()), 0, true);
  return true;
}

/// Puts a wanted block into the cache (pinned) and into the visit.
void device_pipeline::take(visit_record& v, wanted_block& w, reservation& claim) {
  v.pins.push_back(w.id);
  if (!w.hit) {
    auto block = w.home ? std::make_shared<device_block>() : w.found.block;
    cache_.insert(w.id, claim.split(w.bytes), block, /*dirty=*/!w.home);
    cache_.set_ready(w.id, w.found.ready);
    v.inserted.push_back(w.id);
    w.found.block = std::move(block);
  }
  slot_of(v, w.id, 0) = w.found;
}

void device_pipeline::request_lease(visit_record& v, std::vector<block_id> reads, std::vector<block_id> lands,
                                    std::size_t k, bool staging) {
  const ticket lease{++last_lease_};
  leases_.emplace(lease.value, lease_record{&v, reads, lands, k, staging, reads.size()});
  ++v.leases_awaited;
  port_.lease(lease, v.what, std::move(reads), std::move(lands));
}

void device_pipeline::submit_promotion(lease_record& lease, ticket id, const block_id& block, const host_block_ptr& home) {
  auto& v = *lease.owner;
  auto& slot = slot_of(v, block, lease.batch);
  const auto bytes = v.model->plan.bytes_of(block);
  const bool parameters = block.kind == block_kind::parameters;
  operation op{.work = copy_in(home, bytes, slot.block, machine_.info().torch_device),
               .bytes = bytes,
               .estimate = {},
               .label = {"prefetch_shard", fmt::format("{} of {}", to_string(block.kind), detail_of(v))}};
  // What is staged has bytes of its own (W); what streams in later lies in C, which may still be the unit's before.
  const auto after = lease.staging ? std::span<const ticket>{} : std::span<const ticket>(v.working_after);
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

// -- computing ------------------------------------------------------------------------------------------------------------

bool device_pipeline::first_to_submit(const visit_record& v) const {
  return all_before(v, [](const visit_record& other) { return other.all_submitted(); });
}

/// The last unit that still has bytes to pass on; all its computations are submitted before those of `v`.
visit_record* device_pipeline::predecessor_with_room(const visit_record& v) const {
  visit_record* holder = nullptr;
  for (const auto& other : visits_) {
    const bool has_room = !(other->transient.empty() && other->landing_room.empty());
    if (other.get() != &v && other->alive() && other->all_submitted() && has_room) {
      holder = other.get();
    }
  }
  return holder;
}

bool device_pipeline::collect_working(visit_record& v, byte_count need, std::vector<reservation>& got) {
  if (auto fresh = cache_.make_room(need)) {
    got.push_back(std::move(*fresh));
    return true;
  }
  auto* before = predecessor_with_room(v);
  if (!before) {
    return false;
  }
  const auto when_computed = std::min(total(before->transient), need);
  const auto when_landed = std::min(total(before->landing_room), need - when_computed);
  auto more = cache_.make_room(need - when_computed);
  if (!more) {
    more = cache_.make_room(need - when_computed - when_landed);
    if (!more) {
      return false;
    }
    move_bytes(before->landing_room, when_landed, got);
    v.waits_for_landing = true;
    v.working_after = before->landing;
  }
  move_bytes(before->transient, when_computed, got);
  v.working_after.push_back(before->batches.back().compute);
  v.start_after.insert(v.start_after.end(), v.working_after.begin(), v.working_after.end());
  got.push_back(std::move(*more));
  return true;
}

/// C, parted by when it will be free again.
bool device_pipeline::try_working(visit_record& v) {
  const auto& footprint = v.model->plan.footprint_of(v.what);
  std::vector<reservation> got;
  if (!collect_working(v, footprint.working, got)) {
    return false;
  }
  move_bytes(got, std::min(footprint.landing, footprint.working), v.landing_room);
  v.transient = std::move(got);
  v.claimed = true;
  return true;
}

/// Looks for the inputs of a later micro-batch; its bytes are part of C.
bool device_pipeline::fetch(visit_record& v, std::size_t k) {
  auto wants = wanted(v, k);
  if (!std::ranges::all_of(wants, [&](wanted_block& w) { return resolve(v, w); })) {
    v.waits_for_landing = true;
    unpin_all(wants);
    return false;
  }
  std::vector<block_id> reads;
  for (auto& w : wants) {
    if (w.hit) {
      v.pins.push_back(w.id);
    } else if (w.home) {
      w.found.block = std::make_shared<device_block>();
      reads.push_back(w.id);
    }
    slot_of(v, w.id, k) = w.found;
  }
  auto& batch = v.batches[k];
  batch.fetching = true;
  batch.fetched = reads.empty();
  if (!reads.empty()) {
    request_lease(v, std::move(reads), {}, k, false);
  }
  return true;
}

bool device_pipeline::pump(visit_record& v) {
  bool changed = false;
  if (!v.claimed && v.next_op == 0) {
    if (!try_working(v)) {
      v.waits_for_landing = true;
      return false;
    }
    changed = true;
  }
  for (std::size_t k = v.next_op; k < v.batches.size() && k <= v.computed + 1; ++k) {
    changed = (!v.batches[k].fetching && fetch(v, k)) || changed;
  }
  while (!v.all_submitted() && v.batches[v.next_op].fetched) {
    const auto k = v.next_op;
    if (k >= output_window && !v.batches[k - output_window].output_landed) {
      v.waits_for_landing = true;
      break;
    }
    submit_compute(v, k);
    changed = true;
  }
  return changed;
}

void device_pipeline::submit_compute(visit_record& v, std::size_t k) {
  auto& batch = v.batches[k];
  const auto out = output_of(v.what, v.model->size(), index_of(v, k));
  const auto output = out ? std::make_shared<device_block>() : nullptr;
  if (k == 0) {
    v.results.gradients = has_gradients(v.what) ? std::make_shared<device_block>() : nullptr;
    v.results.loss = has_loss(v.what, v.model->size()) ? std::make_shared<device_block>() : nullptr;
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
               .estimate = v.model->plan.time_of(v.what) / v.what.micro_batches,
               .label = {"execute_shard", fmt::format("{} micro-batch {}", detail_of(v), v.what.first_micro_batch.value + k)}};
  ++v.next_op;
  batch.compute = submit(queue_kind::compute, std::move(op), after,
                         {.owner = &v, .kind = op_kind::compute, .batch = k, .lease = {}, .bytes = {}, .label = {}});
  batch.output = output;
  batch.input.block.reset();
  batch.second.block.reset();
  submit_demotions(v, k, output);
  if (v.all_submitted()) {
    if (options_.copy_back_clean && !has_gradients(v.what)) {
      copy_back(v);  // behind the outputs, for which others wait
    }
    v.parameters.block.reset();
  }
}

/// Ablation: what a system without clean blocks would do. The bytes stay pinned until they have been copied.
void device_pipeline::copy_back(visit_record& v) {
  const auto id = parameters_of(v.what);
  const auto bytes = v.model->plan.bytes_of(id);
  cache_.pin(id);
  operation op{.work = copy_for_nothing(v.parameters.block, copied_back_),
               .bytes = bytes,
               .estimate = {},
               .label = {"copy_back", fmt::format("{} of {}", to_string(id.kind), detail_of(v))}};
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
  const auto index = index_of(v, k);
  if (const auto out = output_of(v.what, v.model->size(), index)) {
    keep_output(v, *out, output, v.batches[k].compute);
    demote(v, op_kind::demote_output, k, *out, output);
  } else {
    v.batches[k].output_landed = true;
  }
  if (!v.all_submitted()) {
    return;
  }
  const auto results = std::exchange(v.results, {});
  if (results.gradients) {
    demote(v, op_kind::demote_gradients, k, gradients_of(v.what), results.gradients);
  }
  if (results.loss) {
    demote(v, op_kind::demote_loss, k, loss_of(v.what), results.loss);
  }
}

/// An output stays in the cache if another unit could still be staged beside it.
void device_pipeline::keep_output(visit_record& v, const block_id& id, const device_block_ptr& block, ticket ready) {
  const auto bytes = charged_bytes(v.model->plan.bytes_of(id));
  if (!options_.cache || cache_.peek(id) || budget_.left() + cache_.evictable() < bytes + options_.staging_room) {
    return;
  }
  if (auto claim = cache_.make_room(bytes)) {
    cache_.insert(id, std::move(*claim), block, /*dirty=*/true);
    cache_.set_ready(id, ready);
    cache_.unpin(id);
    v.inserted.push_back(id);
  }
}

void device_pipeline::demote(visit_record& v, op_kind kind, std::size_t k, const block_id& id, device_block_ptr from) {
  const auto bytes = v.model->plan.bytes_of(id);
  operation op{.work = copy_out(std::move(from), v.lands.at(id)),
               .bytes = bytes,
               .estimate = {},
               .label = {"demote_shard", fmt::format("{} of {}", to_string(id.kind), detail_of(v))}};
  const std::vector<ticket> after{v.batches[k].compute};
  v.landing.push_back(submit(queue_kind::d2h, std::move(op), after,
                             {.owner = &v, .kind = kind, .batch = k, .lease = {}, .bytes = bytes, .label = {}}));
}

ticket device_pipeline::submit(queue_kind queue, operation op, std::span<const ticket> after, operation_record record) {
  record.label = op.label;
  ++record.owner->outstanding;
  const auto t = machine_.submit(queue, std::move(op), after);
  operations_.emplace(t.value, std::move(record));
  return t;
}

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
      counters_.busy += took;
      v.times.compute += took;
      break;
    case op_kind::promote:
      v.times.promote = v.times.promote.value_or(duration{}) + took;
      [[fallthrough]];
    case op_kind::promote_input:
      counters_.h2d_bytes += op.bytes;
      copies_in_.push_back({c.begin, c.end});
      v.last_copy = c.end;
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

/// The idle time before a computation that copies explain: copies in until its unit's last one was there (others may have
/// been before it in the queue), and copies out that it had to wait for.
void device_pipeline::expose(visit_record& v, time_point begin) {
  auto& times = v.times;
  const auto from = std::max(last_compute_end_.value_or(times.placed), times.placed);
  auto copies = std::exchange(copies_in_, {});
  std::erase_if(copies, [&](const copy_interval& c) { return !v.last_copy || c.begin >= *v.last_copy; });
  const auto inward = covered(copies, from, begin);
  const auto outward = std::exchange(copies_out_, {});
  if (v.waits_for_landing) {
    copies.insert(copies.end(), outward.begin(), outward.end());
  }
  const auto both = covered(std::move(copies), from, begin);
  times.exposed_h2d += inward;
  times.exposed_d2h += both - inward;
  counters_.exposed_transfer += both;
}

void device_pipeline::on_computed(visit_record& v, const operation_record& op, const completion& c) {
  expose(v, c.begin);
  if (op.batch == 0) {
    v.times.begin = c.begin;
    v.times.idle_since = last_compute_end_;
  }
  v.times.end = c.end;
  last_compute_end_ = c.end;
  v.batches[op.batch].computed = true;
  ++v.computed;
  if (!v.error && v.all_computed()) {
    finish_compute(v);
  }
}

void device_pipeline::finish_compute(visit_record& v) {
  v.phase = visit_phase::landing;
  for (const auto& id : v.pins) {
    cache_.unpin(id);
    if (!options_.cache) {
      cache_.drop(id);
    }
  }
  v.pins.clear();
  v.transient.clear();
  if (has_gradients(v.what)) {
    cache_.drop(parameters_of(v.what));  // the next version comes from the optimizer
  }
  for (const auto& id : consumed_by(v.what, v.model->size())) {
    cache_.drop(id);
  }
  return_credit(v);
}

void device_pipeline::on_landed(visit_record& v, const operation_record& op) {
  if (op.kind == op_kind::demote_output) {
    v.batches[op.batch].output_landed = true;
    const auto out = output_of(v.what, v.model->size(), index_of(v, op.batch));
    if (out && cache_.peek(*out)) {
      cache_.set_clean(*out);
    }
  }
}

// -- ends -----------------------------------------------------------------------------------------------------------------

/// Keeps the cause; the visit ends (in advance) when nothing of it is outstanding. Later units of the model go with it:
/// what they read here will not reach home, so they must not be committed.
void device_pipeline::fail(visit_record& v, const fault& why) {
  const bool first = !v.error;
  if (first || (v.error.code == fault_code::dependency_failed && why.code != fault_code::dependency_failed)) {
    v.error = why;
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
      other->error = {fault_code::dependency_failed, to_string(v.what) + " failed before it"};
    }
    later = later || other.get() == &v;
  }
}

/// A unit that arrives while one before it is failing: the model does not know yet. (If that one was withdrawn the model
/// knows, and this is the next attempt.)
bool device_pipeline::fail_with_predecessor(visit_record& v) {
  for (const auto& other : visits_) {
    if (other.get() == &v) {
      return false;
    }
    const bool failing = other->error && !other->withdrawn && other->phase != visit_phase::ended;
    if (failing && other->what.model == v.what.model) {
      fail(v, {fault_code::dependency_failed, to_string(other->what) + " fails before it"});
      return true;
    }
  }
  return false;
}

/// In the order of the chain, whichever queue is the last to say that it is done: home must never have a unit without
/// the one before it, and a failure that is heard before its cause would be tried again in vain.
bool device_pipeline::may_end(const visit_record& v) const {
  const bool over = v.error ? v.leases_awaited == 0 : v.phase == visit_phase::landing;
  if (!over || v.outstanding > 0 || v.phase == visit_phase::ended) {
    return false;
  }
  // What it took over from the unit before may still be in that one's use.
  if (!std::ranges::all_of(v.start_after, [this](ticket t) { return done(t); })) {
    return false;
  }
  const auto first = std::ranges::find_if(visits_, [&](const auto& other) {
    return other->what.model == v.what.model && other->phase != visit_phase::ended;
  });
  return first->get() == &v;
}

/// What is enqueued behind a failed operation fails, too. Said at once, so that no third unit is enqueued behind the
/// second: units of several models would hand the failure on for ever.
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
  v.transient.clear();
  v.landing_room.clear();
  v.lands.clear();
  v.batches.clear();
  v.parameters = {};
  v.results = {};
  v.work.reset();
}

void device_pipeline::end_failed(visit_record& v) {
  if (v.model) {
    for (const auto& id : produced_by(v.what, v.model->size())) {
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
  return_credit(v);
  v.phase = visit_phase::ended;
  port_.failed(v.what, v.error);
}

void device_pipeline::end_demoted(visit_record& v) {
  release(v);
  v.phase = visit_phase::ended;
  v.times.speed = machine_.info().speed;
  port_.demoted(v.what, v.times);
}

// -- facts ----------------------------------------------------------------------------------------------------------------

std::size_t device_pipeline::visits() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(visits_, [](const auto& v) { return v->phase != visit_phase::ended; }));
}

bool device_pipeline::quiet() const {
  return visits() == 0 && operations_.empty() && leases_.empty() && budget_.used() == cache_.resident() &&
         cache_.evictable() == cache_.resident();
}

std::string device_pipeline::describe() const {
  std::string text;
  constexpr const char* names[] = {"claiming", "leasing", "staged", "running", "landing", "ended"};
  for (const auto& v : visits_) {
    text += fmt::format("{}: {} is {}, {} operations and {} leases outstanding, {} of {} micro-batches computed\n",
                        machine_.info().name, to_string(v->what), names[static_cast<int>(v->phase)], v->outstanding,
                        v->leases_awaited, v->computed, v->what.micro_batches);
  }
  return text;
}

}  // namespace hydra
