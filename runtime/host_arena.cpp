#include "runtime/host_arena.hpp"

#include "runtime/fault.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace hydra {

namespace {

constexpr std::uint64_t alignment = 64;
constexpr std::uint64_t page = 4096;
constexpr std::uint64_t huge_page = 2 << 20;

/// Streams whose bases are equal modulo a large power of two evict each other from the caches (Adam on p, m, v, g:
/// eight times slower), so block k of those that matter begins at k steps behind its page. 13 places: a prime, because
/// callers allocate in strides (all parameters, then all gradients, ...).
constexpr std::uint64_t stagger_step = 4096 + 1024;
constexpr std::uint64_t stagger_places = 13;
constexpr std::uint64_t stagger_room = (stagger_places - 1) * stagger_step;
constexpr std::uint64_t staggered_from = 256 << 10;  // smaller blocks stay in the second-level cache

/// Bytes that a block of `n` bytes takes. Sizes that cannot exist are left as they are: the sums would overflow.
std::uint64_t footprint(std::uint64_t n) noexcept {
  if (n > std::numeric_limits<std::uint64_t>::max() / 2) return n;
  if (n < staggered_from) return round_up(byte_count{n}, alignment).value();
  return round_up(byte_count{n + stagger_room}, page).value();
}

/// Gives memory back to where it came from.
struct host_memory_deleter {
  std::size_t mapped = 0;  ///< bytes if it was mapped, 0 if it came from the heap
  void operator()(std::byte* p) const noexcept { mapped != 0 ? static_cast<void>(munmap(p, mapped)) : std::free(p); }
};
using host_memory = std::unique_ptr<std::byte, host_memory_deleter>;

/// Fresh pages are zero. Mapped with room for one huge page more and trimmed, so that huge pages can begin at the base.
host_memory map_pages(std::size_t n) {
  void* const raw = mmap(nullptr, n + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) throw std::bad_alloc{};
  auto* const first = static_cast<std::byte*>(raw);
  const std::size_t head = (huge_page - reinterpret_cast<std::uintptr_t>(first) % huge_page) % huge_page;
  if (head != 0) munmap(first, head);
  munmap(first + head + n, huge_page - head);
  madvise(first + head, n, MADV_HUGEPAGE);  // only advice: without huge pages it works as well, slower
  return host_memory{first + head, {n}};
}

host_memory take_from_heap(std::size_t n) {
  auto* const p = static_cast<std::byte*>(std::aligned_alloc(n < staggered_from ? alignment : page, n));
  if (p == nullptr) throw std::bad_alloc{};
  std::memset(p, 0, n);
  return host_memory{p};
}

host_memory take_memory(std::uint64_t n) {
  if (n > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()) - huge_page) throw std::bad_alloc{};
  if (n == 0) return {};
  return n < huge_page ? take_from_heap(n) : map_pages(n);
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
  reservation claim_;  // before the memory, so that it is given back after it
  host_memory memory_;
  std::byte* data_;
  byte_count size_;
};

/// What both arenas share: the same charges and the same refusals.
class budgeted_arena : public host_arena {
 public:
  explicit budgeted_arena(byte_count cap) : budget_("host memory", cap) {}

  const byte_budget& budget() const noexcept override { return budget_; }
  byte_count charged(byte_count n) const noexcept override { return byte_count{footprint(n.value())}; }

 protected:
  reservation claim(byte_count n, const std::string& what) { return budget_.reserve(charged(n), what); }

 private:
  byte_budget budget_;
};

class real_arena final : public budgeted_arena {
 public:
  using budgeted_arena::budgeted_arena;

  host_block_ptr allocate(byte_count n, const std::string& what) override {
    auto bytes = claim(n, what);
    try {
      auto memory = take_memory(bytes.bytes().value());
      return std::make_shared<arena_block>(std::move(bytes), std::move(memory), next_offset(n), n);
    } catch (const std::bad_alloc&) {
      throw fault_error{
          fault_code::out_of_memory,
          fmt::format("{} needs {}, within the cap of {}, but the system has no such memory: lower the cap", what,
                      to_string(n), to_string(budget().limit()))};
    }
  }

 private:
  std::uint64_t next_offset(byte_count n) noexcept {
    return n.value() < staggered_from ? 0 : next_place_.fetch_add(1) % stagger_places * stagger_step;
  }

  std::atomic<std::uint64_t> next_place_{0};
};

class accounting_arena final : public budgeted_arena {
 public:
  using budgeted_arena::budgeted_arena;

  host_block_ptr allocate(byte_count n, const std::string& what) override {
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

std::unique_ptr<host_arena> make_host_arena(byte_count cap) { return std::make_unique<real_arena>(cap); }

std::unique_ptr<host_arena> make_accounting_arena(byte_count cap) { return std::make_unique<accounting_arena>(cap); }

byte_count host_charge(byte_count n) noexcept { return byte_count{footprint(n.value())}; }

}  // namespace hydra
