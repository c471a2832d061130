#include "actors/device/block_lookup.hpp"

#include <algorithm>

namespace hydra {

std::optional<std::vector<found_block>> block_lookup::find_claimed(visit_record& v) {
  std::vector<found_block> blocks;
  add_inputs(v, fetch_time::with_claim, 0, blocks);
  const auto claimed = blocks.size();
  add_inputs(v, fetch_time::with_micro_batch, 0, blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!find(v, blocks[i]) && i < claimed) {
      unpin(blocks);
      return std::nullopt;
    }
  }
  return blocks;
}

std::optional<std::vector<found_block>> block_lookup::find_inputs(visit_record& v, std::size_t k) {
  std::vector<found_block> blocks;
  add_inputs(v, fetch_time::with_micro_batch, k, blocks);
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

void block_lookup::add_inputs(visit_record& v, fetch_time when, std::size_t k, std::vector<found_block>& to) {
  for (auto& in : v.inputs) {
    if (fetched(in.use.role) == when && in.covers(k) && in.of(k).phase == fetch_phase::waiting) {
      to.push_back({.input = &in, .id = v.name(in.use, in.part_of(k)), .bytes = v.room_of(in.use)});
    }
  }
}

bool block_lookup::find(const visit_record& v, found_block& b) {
  if (const auto* entry = state_.cache.find(b.id)) {
    if (!entry->ready) {
      return false;  // whoever has asked for it may be withdrawn before a copy fills it
    }
    if (state_.operations.has_failed(entry->ready)) {
      return false;  // it is released with the failed units that hold it; a unit that used it would fail, too
    }
    state_.cache.pin(b.id);
    b.where = {entry->block, entry->ready, fetch_phase::here};
    b.source = block_source::cache;
  } else if (auto live = state_.visits.live_output(v, b.id)) {
    b.where = *live;
    b.source = block_source::unit;
  } else if (!state_.visits.produces(v, b.id)) {
    b.source = block_source::host;
  }
  return b.source != block_source::nowhere;
}

}  // namespace hydra
