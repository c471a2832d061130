#include "actors/device/saved_tensors.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

/// A forward visit of a step: all backward visits of the steps before are over, here or on other devices.
void saved_tensors::drop_older(const unit& u) {
  for (const auto& id : state_.cache.ids()) {
    if (id.kind == block_kind::saved && id.model == u.model && id.step < u.step) {
      state_.cache.drop(id);
    }
  }
}

/// Of its own model alone: those of others would be needed before those of a step that has just begun.
bool saved_tensors::clear_room(const unit& u, byte_count bytes) {
  const auto all = state_.options.saving_room(state_.budget.limit());
  if (bytes > all) {
    return false;
  }
  while (state_.cache.resident(block_kind::saved) + bytes > all) {
    if (!state_.cache.evict_one(block_kind::saved, u.model)) {
      return false;
    }
  }
  return true;
}

std::shared_ptr<saved_graph> saved_tensors::make(visit_record& v, std::size_t k) {
  const auto& writes = v.graph().at(v.node).writes;
  const auto use = std::ranges::find(writes, block_role::saved, &block_use::role);
  const auto bytes = use == writes.end() ? byte_count{} : v.room_of(*use);
  if (bytes == byte_count{}) {
    return nullptr;
  }
  const auto id = v.name(*use, k);
  drop_older(v.what);
  state_.cache.drop(id);  // of an attempt that was lost
  if (state_.cache.peek(id) || !clear_room(v.what, bytes)) {
    return nullptr;
  }
  auto claim = state_.cache.make_room(bytes);
  if (!claim) {
    return nullptr;
  }
  auto graph = std::make_shared<saved_graph>();
  state_.cache.insert(id, *std::move(claim), graph, /*dirty=*/false);
  v.pins.push_back(id);
  v.inserted.push_back(id);
  return graph;
}

std::shared_ptr<saved_graph> saved_tensors::take(visit_record& v, std::size_t k) {
  const auto id = v.name(v.reads(block_role::saved)->use, k);
  const auto* entry = state_.cache.find(id);
  if (entry == nullptr) {
    return nullptr;
  }
  state_.cache.pin(id);
  v.pins.push_back(id);
  return std::static_pointer_cast<saved_graph>(entry->block);
}

}  // namespace hydra
