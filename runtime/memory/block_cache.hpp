#pragma once
// Device memory as a cache of blocks with pins. Pure logic: touches no tensors, reads no clock.

#include "runtime/base/block_id.hpp"
#include "runtime/device/ticket.hpp"
#include "runtime/memory/byte_budget.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace hydra {

struct device_block;

/// Blocks resident (or arriving) on one device, least recently used first, within the byte budget it reserves from. A
/// pinned block is never evicted. Evicting a block that also has its bytes at home is free and never copies; a block
/// that has not been written back yet ("dirty") counts as pinned. Saved tensors, which would have to be computed again,
/// are evicted after all others, if at all. Not thread-safe: owned by one actor.
class block_cache {
 public:
  explicit block_cache(byte_budget& budget);
  ~block_cache();

  struct entry {
    std::shared_ptr<device_block> block;
    byte_count bytes;
    ticket ready;            ///< the copy or computation that fills it
    std::uint32_t pins = 0;
    bool dirty = false;      ///< newer than home: produced here, not written back yet
  };

  /// The entry, marked as most recently used; null if absent.
  const entry* find(const block_id& id);
  const entry* peek(const block_id& id) const;

  /// Adds a block with one pin, using `claim` (its bytes). Throws fault_error{internal} if the id is present.
  const entry& insert(const block_id& id, reservation claim, std::shared_ptr<device_block> block, bool dirty);
  void set_ready(const block_id& id, ticket filled_by);
  void pin(const block_id& id);
  /// Undoes one pin. Throws fault_error{internal} if there is none.
  void unpin(const block_id& id);
  /// The block has been written back.
  void set_clean(const block_id& id);
  /// Drops an unpinned block (a stale version, a consumed activation); true if it was there and has been dropped. A
  /// block that is pinned or dirty is dropped as soon as it is neither; until then find() still returns it.
  bool drop(const block_id& id);

  /// What make_room() may evict.
  enum class evicts : std::uint8_t { all_but_saved, all };
  /// Reserves `n` bytes from the budget, evicting clean unpinned blocks in LRU order as far as needed. Nothing is
  /// evicted if even all of them would not be enough.
  std::optional<reservation> make_room(byte_count n, evicts what = evicts::all_but_saved);

  /// Evicts the least recently used block of this kind and model; false if there is none that may be evicted.
  bool evict_one(block_kind kind, model_id model);
  /// Drops every unpinned clean block.
  void evict_all();

  /// Bytes that make_room could free now.
  byte_count evictable(evicts what = evicts::all) const;
  byte_count resident() const;
  byte_count resident(block_kind kind) const;
  std::vector<block_id> ids() const;
  /// Ids evicted or dropped since the last call (device_freed reports them to the scheduler).
  std::vector<block_id> take_dropped();

  std::uint64_t evictions() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hydra
