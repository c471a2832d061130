#include "runtime/memory/block_cache.hpp"

#include "runtime/base/fault.hpp"

#include <algorithm>
#include <list>
#include <unordered_map>
#include <utility>

namespace hydra {

namespace {

struct resident_block {
  block_id id;
  block_cache::entry entry;
  reservation claim;
  bool unwanted = false;  ///< dropped as soon as it is neither pinned nor dirty

  bool held() const { return entry.pins != 0 || entry.dirty; }
};

using residents = std::list<resident_block>;  // least recently used first; entries keep their address

}  // namespace

struct block_cache::state {
  using evicts = block_cache::evicts;

  explicit state(byte_budget& b) : budget(b) {}

  byte_budget& budget;
  residents blocks;
  std::unordered_map<block_id, residents::iterator> by_id;
  std::vector<block_id> dropped;
  std::uint64_t evictions = 0;

  resident_block* get(const block_id& id) const {
    const auto found = by_id.find(id);
    return found == by_id.end() ? nullptr : &*found->second;
  }

  resident_block& require(const block_id& id) const {
    if (auto* block = get(id)) return *block;
    throw fault_error{fault_code::internal, to_string(id) + " is not in the device's cache"};
  }

  void erase(block_id id) {  // by value: the argument may refer to the block's own name
    const auto position = by_id.at(id);
    dropped.push_back(id);
    by_id.erase(position->id);
    blocks.erase(position);
  }

  /// Called wherever a block may have lost its last pin.
  void erase_if_unwanted(const resident_block& block) {
    if (block.unwanted && !block.held()) erase(block.id);
  }

  template <class Suits>
  bool evict_oldest(Suits suits) {
    const auto oldest = std::ranges::find_if(blocks, [&](const resident_block& b) { return !b.held() && suits(b.id); });
    if (oldest == blocks.end()) return false;
    erase(oldest->id);
    ++evictions;
    return true;
  }

  bool evict_oldest(evicts what) {
    return evict_oldest([](const block_id& id) { return id.kind != block_kind::saved; }) ||
           (what == evicts::all && evict_oldest([](const block_id&) { return true; }));
  }
};

block_cache::block_cache(byte_budget& budget) : state_(std::make_unique<state>(budget)) {}

block_cache::~block_cache() = default;

const block_cache::entry* block_cache::find(const block_id& id) {
  const auto found = state_->by_id.find(id);
  if (found == state_->by_id.end()) return nullptr;
  state_->blocks.splice(state_->blocks.end(), state_->blocks, found->second);
  return &found->second->entry;
}

const block_cache::entry* block_cache::peek(const block_id& id) const {
  const auto* block = state_->get(id);
  return block == nullptr ? nullptr : &block->entry;
}

const block_cache::entry& block_cache::insert(const block_id& id, reservation claim,
                                              std::shared_ptr<device_block> block, bool dirty) {
  if (state_->get(id)) throw fault_error{fault_code::internal, to_string(id) + " is already in the device's cache"};
  const byte_count bytes = claim.bytes();
  state_->blocks.push_back({id, entry{std::move(block), bytes, ticket{}, 1, dirty}, std::move(claim)});
  state_->by_id.emplace(id, std::prev(state_->blocks.end()));
  return state_->blocks.back().entry;
}

void block_cache::set_ready(const block_id& id, ticket filled_by) { state_->require(id).entry.ready = filled_by; }

void block_cache::pin(const block_id& id) { ++state_->require(id).entry.pins; }

void block_cache::unpin(const block_id& id) {
  auto& block = state_->require(id);
  if (block.entry.pins == 0) throw fault_error{fault_code::internal, to_string(id) + " is unpinned but has no pin"};
  --block.entry.pins;
  state_->erase_if_unwanted(block);
}

void block_cache::set_clean(const block_id& id) {
  auto& block = state_->require(id);
  block.entry.dirty = false;
  state_->erase_if_unwanted(block);
}

bool block_cache::drop(const block_id& id) {
  auto* block = state_->get(id);
  if (block == nullptr) return false;
  block->unwanted = true;
  state_->erase_if_unwanted(*block);
  return state_->get(id) == nullptr;
}

std::optional<reservation> block_cache::make_room(byte_count n, evicts what) {
  if (auto claim = state_->budget.try_reserve(n)) return claim;
  if (n > state_->budget.left() + evictable(what)) return std::nullopt;
  while (state_->evict_oldest(what))
    if (auto claim = state_->budget.try_reserve(n)) return claim;
  return std::nullopt;  // another user of the budget was faster
}

bool block_cache::evict_one(block_kind kind, model_id model) {
  return state_->evict_oldest([=](const block_id& each) { return each.kind == kind && each.model == model; });
}

void block_cache::evict_all() {
  while (state_->evict_oldest(evicts::all)) {
  }
}

byte_count block_cache::evictable(evicts what) const {
  byte_count sum;
  for (const auto& block : state_->blocks)
    if (!block.held() && (what == evicts::all || block.id.kind != block_kind::saved)) sum += block.entry.bytes;
  return sum;
}

byte_count block_cache::resident() const {
  byte_count sum;
  for (const auto& block : state_->blocks) sum += block.entry.bytes;
  return sum;
}

byte_count block_cache::resident(block_kind kind) const {
  byte_count sum;
  for (const auto& block : state_->blocks)
    if (block.id.kind == kind) sum += block.entry.bytes;
  return sum;
}

std::vector<block_id> block_cache::ids() const {
  std::vector<block_id> all;
  for (const auto& block : state_->blocks) all.push_back(block.id);
  return all;
}

std::vector<block_id> block_cache::take_dropped() { return std::exchange(state_->dropped, {}); }

std::uint64_t block_cache::evictions() const noexcept { return state_->evictions; }

}  // namespace hydra
