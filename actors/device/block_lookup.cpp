#include "actors/device/block_lookup.hpp"

#include "partition/graph/dataflow.hpp"

#include <algorithm>

namespace hydra {

std::optional<std::vector<found_block>> block_lookup::find_inputs(const visit_record& v, std::size_t k) {
  auto blocks = read_by(v, k);
  if (!std::ranges::all_of(blocks, [&](found_block& b) { return find(v, b); })) {
    unpin(blocks);
    return std::nullopt;
  }
  return blocks;
}

void block_lookup::unpin(const std::vector<found_block>& blocks) {
  for (const auto& b : blocks) {
    if (b.source == block_source::cache) {
      state_.cache.unpin(b.id);
    }
  }
}

std::vector<found_block> block_lookup::read_by(const visit_record& v, std::size_t k) {
  std::vector<found_block> blocks;
  const auto add = [&](const block_id& id) { blocks.push_back({.id = id, .bytes = v.model->plan.room_for(id)}); };
  if (k == 0) {
    add(parameters_of(v.what));
    if (v.has_base()) {
      add(v.model->plan.base_of(v.what));
    }
  }
  const auto in = inputs_of(v.what, v.model->plan.shape(), v.index_of(k));
  add(in.input);
  if (in.second) {
    add(*in.second);
  }
  return blocks;
}

bool block_lookup::find(const visit_record& v, found_block& b) {
  if (const auto* entry = state_.cache.find(b.id)) {
    if (state_.operations.has_failed(entry->ready)) {
      return false;  // it is released with the failed units that hold it; a unit that used it would fail, too
    }
    state_.cache.pin(b.id);
    b.where = {entry->block, entry->ready};
    b.source = block_source::cache;
  } else if (auto live = state_.visits.live_output(b.id)) {
    b.where = *live;
    b.source = block_source::unit;
  } else if (!state_.visits.produces(b.id, v.model->plan.shape())) {
    b.source = block_source::host;
  }
  return b.source != block_source::nowhere;
}

}  // namespace hydra
