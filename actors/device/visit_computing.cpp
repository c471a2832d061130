#include "actors/device/visit_computing.hpp"

#include "actors/device/working_bytes.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

/// How many micro-batches of outputs a unit may have on the device (the footprint counts two at a time).
constexpr std::size_t output_window = 2;

/// Null if it reads no block of the role.
device_block_ptr block_of(const visit_record& v, block_role role, std::size_t k = 0) {
  const auto found = std::ranges::find_if(
      v.inputs, [&](const visit_input& in) { return in.use.role == role && in.covers(k); });
  return found == v.inputs.end() ? nullptr : found->of(k).block;
}

/// All of the role, in their order.
std::vector<device_block_ptr> blocks_of(const visit_record& v, block_role role, std::size_t k) {
  std::vector<device_block_ptr> all;
  for (const auto& in : v.inputs) {
    if (in.use.role == role && in.covers(k)) {
      all.push_back(in.of(k).block);
    }
  }
  return all;
}

/// The first one is returned; the others stay.
device_block_ptr take_first(std::vector<device_block_ptr>& blocks) {
  if (blocks.empty()) {
    return nullptr;
  }
  auto first = std::move(blocks.front());
  blocks.erase(blocks.begin());
  return first;
}

/// What it reads.
micro_batch_blocks blocks_of(const visit_record& v, std::size_t k) {
  micro_batch_blocks blocks;
  blocks.skip = block_of(v, block_role::skip, k);
  blocks.more_inputs = blocks_of(v, block_role::input, k);
  blocks.input = take_first(blocks.more_inputs);
  blocks.more_upstream = blocks_of(v, block_role::upstream, k);
  blocks.second = take_first(blocks.more_upstream);
  if (auto targets = block_of(v, block_role::targets, k)) {
    blocks.second = std::move(targets);
  }
  return blocks;
}

/// Null if it writes no block of the role.
device_block_ptr room_for(const visit_record& v, block_role role) {
  return v.writes(role) == nullptr ? nullptr : make_device_block();
}

}  // namespace

bool visit_computing::first_to_submit(const visit_record& v) const {
  return state_.visits.all_before(v, [](const visit_record& other) { return other.all_submitted(); });
}

bool visit_computing::advance(visit_record& v) {
  bool changed = v.phase() == visit_phase::staged && v.lacks(0) && staging_.fetch(v, 0);
  if (v.all_submitted() || !staging_.in_line(v) || !first_to_submit(v)) {
    return changed;
  }
  if (v.homes != fetch_phase::here) {
    return changed;
  }
  if (!v.working) {
    if (!claim_working_bytes(v, state_)) {
      v.waits.for_copies_out = true;
      return changed;
    }
    changed = true;
  }
  changed = staging_.fetch_sum(v) || changed;
  changed = fetch_ahead(v) || changed;
  changed = submit_fetched(v) || changed;
  if (v.steps()) {
    changed = staging_.fetch_state(v) || changed;
    changed = try_step(v) || changed;
  }
  return changed;
}

/// At most two micro-batches are fetched that have not been computed.
bool visit_computing::fetch_ahead(visit_record& v) {
  bool changed = false;
  for (std::size_t k = v.next_op; k < v.batches.size() && k <= v.computed + 1; ++k) {
    if (v.lacks(k)) {
      const bool found = staging_.fetch(v, k);
      v.waits.for_copies_out = v.waits.for_copies_out || !found;
      changed = changed || found;
    }
  }
  return changed;
}

bool visit_computing::submit_fetched(visit_record& v) {
  bool changed = false;
  if (!v.has(fetch_time::with_working_bytes)) {
    return changed;
  }
  while (!v.micro_batches_submitted() && v.has(fetch_time::with_micro_batch, v.next_op)) {
    const auto k = v.next_op;
    if (k >= output_window && v.batches[k - output_window].copies_out > 0) {
      v.waits.for_copies_out = true;
      break;
    }
    submit_micro_batch(v, k);
    changed = true;
  }
  return changed;
}

void visit_computing::submit_micro_batch(visit_record& v, std::size_t k) {
  auto blocks = blocks_of(v, k);
  blocks.output = room_for(v, block_role::output);
  blocks.joined = room_for(v, block_role::joined);
  if (k == 0) {
    begin_results(v);
  }
  auto op = computation_of(v, k, blocks);
  ++v.next_op;
  const auto made = state_.operations.submit(std::move(op), awaited_by(v, k),
                                             {.owner = &v, .kind = operation_kind::compute, .batch = k});
  v.batches[k].compute = made;
  v.results.sum.reset();
  v.let_go(fetch_time::with_micro_batch, k);
  v.let_go(fetch_time::with_working_bytes);
  write_back_.submit_outputs(v, k, blocks);
  if (v.all_submitted()) {
    if (state_.options.copy_back_clean && !v.has_gradients()) {
      write_back_.submit_copy_back(v);  // after the outputs, for which others wait
    }
    v.let_go(fetch_time::with_claim);
  }
}

void visit_computing::begin_results(visit_record& v) {
  v.results.sum = block_of(v, block_role::sum);
  if (v.has_gradients() && !v.results.gradients) {
    v.results.gradients = make_device_block();
  }
  v.results.loss = room_for(v, block_role::loss);
}

operation visit_computing::computation_of(visit_record& v, std::size_t k, micro_batch_blocks blocks) {
  const bool was_saved = v.reads(block_role::saved) != nullptr;
  blocks.saved = was_saved ? saved_.take(v, k) : saved_.make(v, k);
  v.batches[k].spared = was_saved && blocks.saved;
  const auto again = v.batches[k].spared ? v.model->plan.recomputing_time_of(v.what) : duration{};
  const parameter_blocks parameters{block_of(v, block_role::parameters), block_of(v, block_role::base)};
  return {.work = [work = v.work, k, parameters, blocks = std::move(blocks),
                   results = v.results] { work->run(k, parameters, blocks, results); },
          .bytes = {},
          .estimate = std::max(v.model->plan.computing_time_of(v.what) / v.what.micro_batches - again, duration{}),
          .label = state_.labels.of_micro_batch("execute_shard", v, k)};
}

/// What the computation of a micro-batch waits for; for the first one that is what the unit waits for to start.
std::vector<ticket> visit_computing::awaited_by(visit_record& v, std::size_t k) {
  std::vector<ticket> after;
  for (const auto& in : v.inputs) {
    const auto when = fetched(in.use.role);
    if (when != fetch_time::while_computing && when != fetch_time::never && in.covers(k)) {
      after.push_back(in.of(k).ready);
    }
  }
  if (k == 0) {
    v.start_after.insert(v.start_after.end(), after.begin(), after.end());
    return v.start_after;
  }
  after.push_back(v.batches[k - 1].compute);  // after a failure none of the later ones may run
  return after;
}

bool visit_computing::try_step(visit_record& v) {
  if (!v.micro_batches_submitted() || v.step_submitted() || !v.has(fetch_time::while_computing)) {
    return false;
  }
  step_blocks blocks{block_of(v, block_role::parameters), std::exchange(v.results.gradients, {}), {},
                     make_device_block()};
  std::vector<ticket> after{v.batches.back().compute};
  for (const auto& in : v.inputs) {
    if (in.use.role == block_role::state) {
      blocks.state.push_back(in.of(0).block);
      after.push_back(in.of(0).ready);
    }
  }
  v.stepping = {step_phase::submitted, submit_step(v, blocks, after)};
  auto& next = v.writes(block_role::parameters)->parts.front();
  next.block = blocks.stepped;
  next.made = v.stepping.compute;
  write_back_.submit_stepped(v, blocks);
  v.let_go(fetch_time::while_computing);
  v.let_go(fetch_time::with_claim);
  return true;
}

ticket visit_computing::submit_step(visit_record& v, const step_blocks& blocks, std::span<const ticket> after) {
  auto work = [model = v.model, what = v.what, blocks] { step_on_device(*model, what, blocks); };
  operation op{.work = std::move(work),
               .bytes = {},
               .estimate = v.model->plan.shards[v.what.shard.value].device_update_time,
               .label = state_.labels.of_step("update_shard", v)};
  return state_.operations.submit(std::move(op), after, {.owner = &v, .kind = operation_kind::step});
}

}  // namespace hydra
