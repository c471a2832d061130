#include "actors/policy/residency.hpp"

#include <algorithm>
#include <optional>

namespace hydra {

namespace {

/// A base has no version: any unit of its shard reads it.
std::optional<version_index> version_of(const block_id& block) {
  return block.kind == block_kind::base ? std::nullopt : std::optional(block.step);
}

bool is_parameters(const block_id& block) {
  return block.kind == block_kind::parameters || block.kind == block_kind::base;
}

}  // namespace

void residency::report(device_id device, std::span<const block_id> cached, std::span<const block_id> dropped) {
  for (const auto& block : dropped) {
    if (is_parameters(block) && knows(block)) {
      std::erase(copies_of(block), copy{device, version_of(block)});
    }
  }
  for (const auto& block : cached) {
    if (!is_parameters(block)) {
      continue;
    }
    auto& all = copies_of(block);
    if (const copy added{device, version_of(block)}; std::ranges::find(all, added) == all.end()) {
      all.push_back(added);
    }
  }
}

void residency::forget(device_id device) {
  for (auto& model : held_) {
    for (auto& shard : model) {
      std::erase_if(shard, [device](const copy& c) { return c.device == device; });
    }
  }
}

void residency::forget(model_id model) {
  if (model.value >= held_.size()) {
    return;
  }
  for (auto& shard : held_[model.value]) {
    std::erase_if(shard, [](const copy& c) { return c.version.has_value(); });
  }
}

residency::places residency::of(const unit& u, const std::optional<block_id>& base, device_id device) const noexcept {
  places found;
  const auto model = base ? base->model : u.model;
  const auto shard = base ? base->shard : u.shard;
  if (model.value >= held_.size() || shard.value >= held_[model.value].size()) {
    return found;
  }
  for (const auto& c : held_[model.value][shard.value]) {
    if (base ? !c.version : c.version == u.step) {
      if (c.device == device) {
        found.here = true;
      } else if (!found.elsewhere) {
        found.elsewhere = c.device;
      }
    }
  }
  return found;
}

bool residency::knows(const block_id& block) const noexcept {
  return block.model.value < held_.size() && block.shard.value < held_[block.model.value].size();
}

residency::copies& residency::copies_of(const block_id& block) {
  if (block.model.value >= held_.size()) {
    held_.resize(block.model.value + 1);
  }
  auto& shards = held_[block.model.value];
  if (block.shard.value >= shards.size()) {
    shards.resize(block.shard.value + 1);
  }
  return shards[block.shard.value];
}

}  // namespace hydra
