#include "actors/device/block_lookup.hpp"

#include <algorithm>

namespace hydra {

std::optional<std::vector<found_block>> block_lookup::find_inputs(visit_record& v, std::size_t k) {
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

std::vector<found_block> block_lookup::read_by(visit_record& v, std::size_t k) {
  std::vector<found_block> blocks;
  for (auto& in : v.inputs) {
    const auto when = fetched(in.use.role);
    if (when == fetch_time::with_micro_batch || (when == fetch_time::with_claim && k == 0)) {
      blocks.push_back({.input = &in, .id = v.name(in.use, k), .bytes = v.room_of(in.use)});
    }
  }
  return blocks;
}

bool block_lookup::find(const visit_record& v, found_block& b) {
  if (const auto* entry = state_.cache.find(b.id)) {
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
