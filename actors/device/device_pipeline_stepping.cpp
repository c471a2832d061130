#include "actors/device/device_pipeline.hpp"

#include "partition/graph/dataflow.hpp"

#include <utility>

// The optimizer step of a shard after its micro-batches: optimizer state in, the next version out.

namespace hydra {

/// One state buffer per computed micro-batch, so that inputs do not queue behind all of the state; the rest after the
/// last input. Its bytes are part of C.
bool device_pipeline::fetch_state(visit_record& v) {
  const auto buffers = v.model->plan.shards[v.what.shard.value].state_buffers().size();
  auto& state = v.stepping.state;
  const bool inputs_asked = v.batches.back().phase != micro_batch_phase::waiting;
  bool changed = false;
  while (state.size() < buffers && (inputs_asked || state.size() <= v.computed)) {
    const auto id = state_block(v.what, state.size());
    if (produced_here(id, v.model->size())) {  // by the step before, of a model with one shard
      v.waits.for_copies_out = true;
      return changed;
    }
    state.push_back({make_device_block(), {}});
    request_lease(v, {id}, {}, 0, false);
    changed = true;
  }
  return changed;
}

bool device_pipeline::try_step(visit_record& v) {
  const auto buffers = v.model->plan.shards[v.what.shard.value].state_buffers().size();
  if (!v.micro_batches_submitted() || v.step_submitted() || v.stepping.promoted < buffers) {
    return false;
  }
  const auto stepped = make_device_block();
  const auto state = v.stepping.state;
  v.stepping.compute = submit_step(v, stepped);
  v.stepping.parameters = stepped;
  v.stepping.phase = step_phase::submitted;
  v.stepping.state.clear();
  demote_stepped(v, stepped, state);
  v.parameters.block.reset();
  return true;
}

ticket device_pipeline::submit_step(visit_record& v, const device_block_ptr& stepped) {
  step_blocks blocks{v.parameters.block, std::exchange(v.results.gradients, {}), {}, stepped};
  std::vector<ticket> after{v.batches.back().compute};
  for (const auto& buffer : v.stepping.state) {
    blocks.state.push_back(buffer.block);
    after.push_back(buffer.ready);
  }
  operation op{.work = [model = v.model, what = v.what, blocks = std::move(blocks)] { step_on_device(*model, what, blocks); },
               .bytes = {},
               .estimate = v.model->plan.shards[v.what.shard.value].device_update_time,
               .label = {"update_shard", options_.labels ? "step of " + v.detail() : std::string{}}};
  return submit(queue_kind::compute, std::move(op), after,
                {.owner = &v, .kind = op_kind::step, .batch = 0, .lease = {}, .bytes = {}, .label = {}});
}

/// Parameters first: they stay for the next visit of the shard, which may follow at once.
void device_pipeline::demote_stepped(visit_record& v, const device_block_ptr& stepped, const std::vector<staged_block>& state) {
  const auto id = stepped_parameters_of(v.what);
  keep_output(v, id, stepped, v.stepping.compute);
  if (cache_.peek(id)) {
    newly_cached_.push_back(id);
  }
  demote(v, op_kind::demote_parameters, 0, id, stepped, v.stepping.compute);
  for (std::size_t i = 0; i < state.size(); ++i) {
    demote(v, op_kind::demote_state, 0, stepped_state_block(v.what, i), state[i].block, v.stepping.compute);
  }
}

}  // namespace hydra
