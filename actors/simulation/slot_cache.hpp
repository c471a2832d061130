#pragma once
// Cache slots and copy queues of a device of the event loop. Rules: the scheduling instances' README, "Staging" and
// "Unit end".

#include "runtime/base/bytes.hpp"
#include "runtime/base/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

/// Parameters of one version of a shard, or its base.
struct shard_version {
  std::uint32_t model = 0;
  std::uint32_t shard = 0;
  std::optional<std::uint32_t> version{};  ///< none: a base, named after the first model that has it
  friend bool operator==(const shard_version&, const shard_version&) = default;
};

/// A queue of copies of one direction, in order. A copy of length 0 neither waits in it nor takes time.
class copy_queue {
 public:
  /// When a copy that is enqueued now and may start at `from` ends.
  duration copy(duration now, duration from, duration length) noexcept {
    const auto earliest = std::max(now, from);
    return length == duration{} ? earliest : free_ = std::max(earliest, free_) + length;
  }

 private:
  duration free_{};
};

/// Slots for shards' parameters. Times are since the start of the run.
class slot_cache {
 public:
  explicit slot_cache(std::uint32_t slots) : most_(slots) {}

  /// The slot that holds the version, if one does.
  std::optional<std::size_t> find(const shard_version& v) const noexcept;
  struct given {
    std::size_t slot = 0;
    duration from{};                       ///< it may be written from then on
    std::optional<shard_version> evicted;  ///< the useful version that it held
  };
  /// A free slot, else the one that can be reused first; ties: empty first, then least recently staged.
  given give(const shard_version& v, duration now);

  /// A unit is staged. Blocks that it finds are touched, then missing ones are inserted: those are evicted later.
  void pin(std::size_t i, bool hit) noexcept {
    ++clock_;
    slots_[i].pins += 1;
    slots_[i].staged = hit ? found() : inserted();
  }
  void unpin(std::size_t i) noexcept { slots_[i].pins -= 1; }
  /// The version in the slot is not useful any more.
  void stale(std::size_t i) noexcept { slots_[i].holds = false; }
  /// The slot cannot be reused before.
  void drain(std::size_t i, duration until) noexcept { slots_[i].drained = std::max(slots_[i].drained, until); }
  /// Stamps of the newest staging.
  std::uint64_t found() const noexcept { return 2 * clock_; }
  std::uint64_t inserted() const noexcept { return 2 * clock_ + 1; }
  /// Blocks used before this stamp have left the device: a least-recently-used cache has evicted them.
  std::uint64_t evicted_before() const noexcept { return evicted_before_; }

 private:
  struct slot {
    shard_version what;
    bool holds = false;
    int pins = 0;              ///< computing or staged
    std::uint64_t staged = 0;  ///< stamp of its last staging
    duration drained{};        ///< end of the copies that read it
  };
  bool sooner(const slot& a, const slot& b, duration now) const noexcept;

  std::size_t most_;
  std::vector<slot> slots_;
  std::uint64_t clock_ = 0;
  std::uint64_t evicted_before_ = 0;
};

}  // namespace hydra
