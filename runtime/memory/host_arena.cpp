#include "runtime/memory/host_arena.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/memory/mapped_pages.hpp"
#include "runtime/memory/page_lock.hpp"
#include "runtime/memory/transfer_slab.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <utility>

namespace hydra {

namespace {

constexpr std::uint64_t alignment = 64;

/// Streams whose bases are equal modulo a large power of two evict each other from the caches (Adam on p, m, v, g:
/// eight times slower), so large block k starts k steps after the start of its page. 13 places: a prime, because
/// callers allocate in strides (all parameters, then all gradients, ...).
constexpr std::uint64_t stagger_step = 4096 + 1024;
constexpr std::uint64_t stagger_places = 13;
constexpr std::uint64_t stagger_room = (stagger_places - 1) * stagger_step;
constexpr std::uint64_t staggered_from = 256 << 10;  // smaller blocks stay in the second-level cache

/// Bytes allocated for a block of `n` bytes. Impossibly large sizes are returned unchanged: the sums would overflow.
std::uint64_t footprint(std::uint64_t n) noexcept {
  if (n > std::numeric_limits<std::uint64_t>::max() / 2) return n;
  if (n < staggered_from) return round_up(byte_count{n}, alignment).value();
  return round_up(byte_count{n + stagger_room}, page_size).value();
}

/// Returns memory to where it came from.
struct host_memory_deleter {
  std::size_t mapped = 0;  ///< bytes if it was mapped, 0 if it came from the heap
  void operator()(std::byte* p) const noexcept { mapped != 0 ? unmap_pages{mapped}(p) : std::free(p); }
};
using host_memory = std::unique_ptr<std::byte, host_memory_deleter>;

host_memory take_from_heap(std::size_t n) {
  auto* const p = static_cast<std::byte*>(std::aligned_alloc(n < staggered_from ? alignment : page_size, n));
  if (p == nullptr) throw std::bad_alloc{};
  std::memset(p, 0, n);
  return host_memory{p};
}

/// Fresh pages are zero.
host_memory take_memory(std::uint64_t n) {
  if (n > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()) - huge_page_size)
    throw std::bad_alloc{};
  if (n == 0) return {};
  return n < huge_page_size ? take_from_heap(n) : host_memory{map_pages(n).release(), {n}};
}

class arena_block final : public host_block {
 public:
  arena_block(reservation claim, host_memory memory, std::uint64_t offset, byte_count size)
      : claim_(std::move(claim)),
        memory_(std::move(memory)),
        data_(memory_ ? memory_.get() + offset : nullptr),
        size_(size) {}

  std::byte* data() noexcept override { return data_; }
  const std::byte* data() const noexcept override { return data_; }
  byte_count size() const noexcept override { return size_; }

 private:
  reservation claim_;  // declared before the memory, so that it is released after it
  host_memory memory_;
  std::byte* data_;
  byte_count size_;
};

/// The pinned pool, claimed as a whole for as long as it is mapped.
struct claimed_slab {
  claimed_slab(reservation whole, byte_count pool, byte_count piece) : claim(std::move(whole)), places(pool, piece) {}

  reservation claim;  // declared before the memory, so that it is released after it
  transfer_slab places;
};

/// A block in the pinned pool; its bytes are part of the pool's claim.
class placed_block final : public host_block {
 public:
  /// `bytes` is a part of `place`.
  placed_block(std::shared_ptr<claimed_slab> slab, std::span<std::byte> place, std::span<std::byte> bytes)
      : slab_(std::move(slab)), place_(place), bytes_(bytes) {}
  ~placed_block() override { slab_->places.give_back(place_.data(), place_.size()); }
  placed_block(const placed_block&) = delete;
  placed_block& operator=(const placed_block&) = delete;

  std::byte* data() noexcept override { return bytes_.data(); }
  const std::byte* data() const noexcept override { return bytes_.data(); }
  byte_count size() const noexcept override { return byte_count{bytes_.size()}; }

 private:
  std::shared_ptr<claimed_slab> slab_;
  std::span<std::byte> place_;
  std::span<std::byte> bytes_;
};

/// What both arenas share: the same charges and the same errors.
class budgeted_arena : public host_arena {
 public:
  explicit budgeted_arena(byte_count cap) : budget_("host memory", cap) {}

  const byte_budget& budget() const noexcept override { return budget_; }
  byte_count charged(byte_count n) const noexcept override { return byte_count{footprint(n.value())}; }

 protected:
  /// Claims the charge of a block of `n` bytes.
  reservation claim(byte_count n, const std::string& what) { return budget_.reserve(charged(n), what); }
  reservation claim_exactly(byte_count n, const std::string& what) { return budget_.reserve(n, what); }

 private:
  byte_budget budget_;
};

class real_arena final : public budgeted_arena {
 public:
  real_arena(byte_count cap, const pinned_pool_sizes& pool) : budgeted_arena(cap) {
    if (!pool.lockers.empty() && pool.size > byte_count{}) open(pool);
  }

  host_block_ptr allocate(byte_count n, const std::string& what, host_use use) override {
    const bool to_place = slab_ && use == host_use::transferred && n > byte_count{};
    if (auto placed = to_place ? place_block(n) : nullptr) return placed;
    auto bytes = claim(n, what);
    if (to_place) unlocked_.fetch_add(1);
    try {
      auto memory = take_memory(bytes.bytes().value());
      return std::make_shared<arena_block>(std::move(bytes), std::move(memory), next_offset(n), n);
    } catch (const std::bad_alloc&) {
      throw fault_error{
          fault_code::does_not_fit,  // freeing other blocks would not help
          fmt::format("{} needs {}, within the cap of {}, but the system refused the allocation: lower the cap", what,
                      to_string(n), to_string(budget().limit()))};
    }
  }

  std::uint64_t unlocked_blocks() const noexcept override { return unlocked_.load(); }

  byte_count pinned() const noexcept override { return slab_ ? slab_->claim.bytes() : byte_count{}; }

  void end_locks(bool hanging) noexcept override {
    if (lock_ && hanging) {
      lock_->abandon();
      slab_->places.keep_mapped();
    }
    lock_.reset();
  }

 private:
  void open(const pinned_pool_sizes& pool) {
    if (pool.size > budget().limit())
      throw fault_error{fault_code::does_not_fit,
                        fmt::format("devices copy from and to {} of host memory, but [host] memory allows {}; raise it",
                                    to_string(pool.size), to_string(budget().limit()))};
    try {
      slab_ = std::make_shared<claimed_slab>(claim_exactly(pool.size, "what devices copy from and to"), pool.size,
                                             pool.piece);
    } catch (const std::bad_alloc&) {
      throw fault_error{fault_code::out_of_memory,
                        fmt::format("the system has no {} of contiguous host memory for the pinned pool: train "
                                    "fewer models at once",
                                    to_string(pool.size))};
    }
    lock_.emplace(slab_->places.pages(), pool.lockers, pool.piece);
  }

  /// Null if there is no free place.
  host_block_ptr place_block(byte_count n) {
    const std::uint64_t size = charged(n).value();
    std::byte* const place = slab_->places.take(size, alignment_of(n));
    if (place == nullptr) return nullptr;
    const std::span bytes{place + next_offset(n), n.value()};
    return std::make_shared<placed_block>(slab_, std::span{place, size}, bytes);
  }

  /// Staggered blocks start some steps after the start of a page.
  static std::uint64_t alignment_of(byte_count n) noexcept {
    return n.value() < staggered_from ? alignment : page_size;
  }

  std::uint64_t next_offset(byte_count n) noexcept {
    return n.value() < staggered_from ? 0 : next_place_.fetch_add(1) % stagger_places * stagger_step;
  }

  std::atomic<std::uint64_t> next_place_{0};
  std::atomic<std::uint64_t> unlocked_{0};
  std::shared_ptr<claimed_slab> slab_;   ///< null: there is no pinned pool
  std::optional<page_lock> lock_;        ///< of its pages
};

class accounting_arena final : public budgeted_arena {
 public:
  using budgeted_arena::budgeted_arena;

  host_block_ptr allocate(byte_count n, const std::string& what, host_use) override {
    return std::make_shared<arena_block>(claim(n, what), host_memory{}, 0, n);
  }
};

template <class Value, class Block>
std::span<Value> values_of(Block& block) noexcept {
  if (block.data() == nullptr) return {};
  return {reinterpret_cast<Value*>(block.data()), block.size().value() / sizeof(Value)};
}

}  // namespace

std::span<float> host_block::floats() noexcept { return values_of<float>(*this); }

std::span<const float> host_block::floats() const noexcept { return values_of<const float>(*this); }

std::span<std::uint16_t> host_block::halves() noexcept { return values_of<std::uint16_t>(*this); }

std::unique_ptr<host_arena> make_host_arena(byte_count cap, const pinned_pool_sizes& pool) {
  return std::make_unique<real_arena>(cap, pool);
}

std::unique_ptr<host_arena> make_accounting_arena(byte_count cap) { return std::make_unique<accounting_arena>(cap); }

byte_count host_charge(byte_count n) noexcept { return byte_count{footprint(n.value())}; }

}  // namespace hydra
