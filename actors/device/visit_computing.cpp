#include "actors/device/visit_computing.hpp"

#include "actors/device/working_bytes.hpp"
#include "partition/graph/dataflow.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

/// How many micro-batches of outputs a unit may have on the device (the footprint counts two at a time).
constexpr std::size_t output_window = 2;

}  // namespace

bool visit_computing::first_to_submit(const visit_record& v) const {
  return state_.visits.all_before(v, [](const visit_record& other) { return other.all_submitted(); });
}

bool visit_computing::advance(visit_record& v) {
  if (v.all_submitted() || !first_to_submit(v)) {
    return false;
  }
  bool changed = false;
  if (!v.working) {
    if (!claim_working_bytes(v, state_)) {
      v.waits.for_copies_out = true;
      return false;
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
    changed = (v.batches[k].phase == micro_batch_phase::waiting && staging_.fetch(v, k)) || changed;
  }
  return changed;
}

bool visit_computing::submit_fetched(visit_record& v) {
  bool changed = false;
  if (sum_before(v.what) && v.sum_phase != micro_batch_phase::fetched) {
    return changed;
  }
  while (!v.micro_batches_submitted() && v.batches[v.next_op].phase == micro_batch_phase::fetched) {
    const auto k = v.next_op;
    if (k >= output_window && v.batches[k - output_window].phase != micro_batch_phase::written_back) {
      v.waits.for_copies_out = true;
      break;
    }
    submit_micro_batch(v, k);
    changed = true;
  }
  return changed;
}

void visit_computing::submit_micro_batch(visit_record& v, std::size_t k) {
  auto& batch = v.batches[k];
  const bool has_output = output_of(v.what, v.model->plan.shape(), v.index_of(k)).has_value();
  const auto output = has_output ? make_device_block() : nullptr;
  if (k == 0) {
    v.results.sum = v.sum.block;
    if (has_gradients(v.what) && !v.results.gradients) {
      v.results.gradients = make_device_block();
    }
    v.results.loss = has_loss(v.what, v.model->plan.shape()) ? make_device_block() : nullptr;
  }
  auto op = computation_of(v, k, output);
  ++v.next_op;
  batch.compute = state_.operations.submit(std::move(op), awaited_by(v, k),
                                           {.owner = &v, .kind = operation_kind::compute, .batch = k});
  batch.phase = micro_batch_phase::submitted;
  batch.output = output;
  batch.input.block.reset();
  batch.second.block.reset();
  v.results.sum = v.sum.block = nullptr;
  write_back_.submit_outputs(v, k, output);
  if (v.all_submitted()) {
    if (state_.options.copy_back_clean && !has_gradients(v.what)) {
      write_back_.submit_copy_back(v);  // after the outputs, for which others wait
    }
    v.base.block.reset();
    v.parameters.block.reset();
  }
}

operation visit_computing::computation_of(visit_record& v, std::size_t k, const device_block_ptr& output) {
  auto& batch = v.batches[k];
  auto saved = v.what.way == direction::forward ? saved_.make(v, k) : saved_.take(v, k);
  batch.spared = saved && v.what.way == direction::backward;
  const auto again = batch.spared ? v.model->plan.recomputing_time_of(v.what) : duration{};
  return {.work = [work = v.work, k, parameters = parameter_blocks{v.parameters.block, v.base.block},
                   blocks = micro_batch_blocks{batch.input.block, batch.second.block, output, std::move(saved)},
                   results = v.results] { work->run(k, parameters, blocks, results); },
          .bytes = {},
          .estimate = std::max(v.model->plan.computing_time_of(v.what) / v.what.micro_batches - again, duration{}),
          .label = state_.labels.of_micro_batch("execute_shard", v, k)};
}

/// What the computation of a micro-batch waits for; for the first one that is what the unit waits for to start.
std::vector<ticket> visit_computing::awaited_by(visit_record& v, std::size_t k) {
  const auto& batch = v.batches[k];
  std::vector<ticket> after{v.parameters.ready, batch.input.ready, batch.second.ready};
  if (k == 0) {
    if (v.has_base()) {
      after.push_back(v.base.ready);
    }
    if (sum_before(v.what)) {
      after.push_back(v.sum.ready);
    }
    v.start_after.insert(v.start_after.end(), after.begin(), after.end());
    return v.start_after;
  }
  after.push_back(v.batches[k - 1].compute);  // after a failure none of the later ones may run
  return after;
}

bool visit_computing::try_step(visit_record& v) {
  if (!v.micro_batches_submitted() || v.step_submitted() || v.stepping.promoted < v.state_buffers()) {
    return false;
  }
  const auto stepped = make_device_block();
  v.stepping.compute = submit_step(v, stepped);
  v.stepping.parameters = stepped;
  v.stepping.phase = step_phase::submitted;
  write_back_.submit_stepped(v, stepped, std::exchange(v.stepping.state, {}));
  v.parameters.block.reset();
  return true;
}

ticket visit_computing::submit_step(visit_record& v, const device_block_ptr& stepped) {
  step_blocks blocks{v.parameters.block, std::exchange(v.results.gradients, {}), {}, stepped};
  std::vector<ticket> after{v.batches.back().compute};
  for (const auto& buffer : v.stepping.state) {
    blocks.state.push_back(buffer.block);
    after.push_back(buffer.ready);
  }
  auto work = [model = v.model, what = v.what, blocks = std::move(blocks)] { step_on_device(*model, what, blocks); };
  operation op{.work = std::move(work),
               .bytes = {},
               .estimate = v.model->plan.shards[v.what.shard.value].device_update_time,
               .label = state_.labels.of_step("update_shard", v)};
  return state_.operations.submit(std::move(op), after, {.owner = &v, .kind = operation_kind::step});
}

}  // namespace hydra
