#include "actors/device/visit_write_back.hpp"

#include "runtime/memory/block_copy.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

void visit_write_back::submit_outputs(visit_record& v, std::size_t k, const micro_batch_blocks& blocks) {
  for (auto& out : v.outputs) {
    const auto& block = out.use.role == block_role::output ? blocks.output
                        : out.use.role == block_role::joined ? blocks.joined
                                                             : nullptr;
    if (block != nullptr && out.covers(k)) {
      auto& batch = v.batches[k];
      const auto part = k - out.first;
      out.parts[part].block = block;
      out.parts[part].made = batch.compute;
      const computed_part p{out, block, batch.compute, part};
      keep_in_cache(v, p);
      submit(v, p);
      ++batch.copies_out;
    }
  }
  if (v.micro_batches_submitted()) {
    submit_results(v);
  }
}

void visit_write_back::submit_results(visit_record& v) {
  const auto made = v.batches.back().compute;
  if (const auto* sum = v.writes(block_role::sum)) {
    const computed_part p{*sum, std::exchange(v.results.gradients, {}), made};
    if (!v.graph().readers(sum->use.block).empty()) {
      keep_in_cache(v, p);  // the next wave may follow here
    }
    submit(v, p);
  }
  if (const auto* loss = v.writes(block_role::loss)) {
    submit(v, {*loss, std::exchange(v.results.loss, {}), made});
  }
}

/// Parameters first: they stay for the next visit of the shard, which may follow at once.
void visit_write_back::submit_stepped(visit_record& v, const step_blocks& blocks) {
  auto next_state = blocks.state.begin();
  for (const auto& out : v.outputs) {
    if (out.use.role == block_role::parameters) {
      const computed_part p{out, blocks.stepped, v.stepping.compute};
      keep_in_cache(v, p);
      const auto id = v.name(out.use);
      if (state_.cache.peek(id) && v.decides_hit(out.use.role)) {
        slots_.add_cached(id);
      }
      submit(v, p);
    } else if (out.use.role == block_role::state) {
      submit(v, {out, *next_state++, v.stepping.compute});
    }
  }
}

void visit_write_back::submit(visit_record& v, computed_part p) {
  const auto& use = p.out.use;
  operation op{.work = copy_out(std::move(p.block), p.out.parts[p.part].home),
               .bytes = v.bytes_of(use),
               .estimate = {},
               .label = state_.labels.of_block("demote_shard", v, v.name(use, p.part))};
  v.write_back.push_back(state_.operations.submit(
      std::move(op), {&p.made, 1}, {.owner = &v, .kind = operation_kind::demote, .use = use, .batch = p.part}));
}

/// An output stays in the cache if another unit could still be staged next to it.
void visit_write_back::keep_in_cache(visit_record& v, const computed_part& p) {
  auto& cache = state_.cache;
  const auto id = v.name(p.out.use, p.part);
  const auto bytes = v.room_of(p.out.use);
  const auto free = state_.budget.left() + cache.evictable(block_cache::evicts::all_but_saved);
  const bool no_room = free < bytes + state_.options.staging_bytes;
  if (!state_.options.cache || cache.peek(id) || no_room) {
    return;
  }
  if (auto claim = cache.make_room(bytes)) {
    cache.insert(id, std::move(*claim), p.block, /*dirty=*/true);
    cache.set_ready(id, p.made);
    cache.unpin(id);
    v.inserted.push_back(id);
  }
}

void visit_write_back::submit_copy_back(visit_record& v) {
  const auto& in = *v.reads(block_role::parameters);
  const auto id = v.name(in.use);
  state_.cache.pin(id);
  operation op{.work = copy_for_nothing(in.of(0).block, copied_back_),
               .bytes = v.bytes_of(in.use),
               .estimate = {},
               .label = state_.labels.of_block("copy_back", v, id)};
  state_.operations.submit(std::move(op), {&v.batches.back().compute, 1},
                           {.owner = &v, .kind = operation_kind::copy_back});
}

void visit_write_back::end_copy_back(const visit_record& v) {
  const auto id = v.name(v.reads(block_role::parameters)->use);
  state_.cache.unpin(id);
  if (!state_.options.cache) {
    state_.cache.drop(id);
  }
}

void visit_write_back::written_back(const operation_record& op) {
  auto& v = *op.owner;
  if (op.use.role == block_role::output || op.use.role == block_role::joined) {
    const auto out = std::ranges::find(v.outputs, op.use, &visit_output::use);
    --v.batches[out->first + op.batch].copies_out;
  }
  if (const auto id = v.name(op.use, op.batch); state_.cache.peek(id)) {
    state_.cache.set_clean(id);
  }
}

}  // namespace hydra
