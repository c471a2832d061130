#include "tests/support/gpu_double/memory.hpp"

#include "tests/support/gpu_double/streams.hpp"

#include <algorithm>
#include <cstring>

#include <sys/mman.h>

namespace gpu_double {

namespace {

constexpr std::uintptr_t span = std::uintptr_t{1} << 44;   ///< of the addresses, and then of their bytes
constexpr std::size_t gap = std::size_t{2} << 20;           ///< at least, between two ranges
constexpr std::size_t context_bytes = std::size_t{300} << 20;
constexpr int unknown_byte = 0xCB;

std::uintptr_t first_address() {
  static const auto at = reinterpret_cast<std::uintptr_t>(
      mmap(nullptr, 2 * span + gap, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  return (at + gap - 1) / gap * gap;
}

void* pointer_to(std::uintptr_t address) { return reinterpret_cast<void*>(bytes_at(address)); }

}  // namespace

std::size_t capacity() {
  static const auto bytes = static_cast<std::size_t>(setting("MEMORY_MIB", 8192)) << 20;
  return bytes;
}

std::size_t granularity() {
  static const auto bytes = static_cast<std::size_t>(setting("PAGE_KIB", 2048)) << 10;
  return bytes;
}

std::size_t& used_bytes() {
  static std::size_t n = context_bytes;
  return n;
}

areas::const_iterator areas::containing(std::uintptr_t address) const {
  auto it = upper_bound(address);
  if (it == begin()) return end();
  --it;
  return address < it->first + it->second ? it : end();
}

bool areas::any_in(std::uintptr_t begin, std::uintptr_t past) const {
  const auto next = lower_bound(begin);
  return containing(begin) != end() || (next != end() && next->first < past);
}

memory_areas& memory() {
  static auto* const all = new memory_areas;
  return *all;
}

std::uintptr_t bytes_at(std::uintptr_t address) noexcept {
  return address >= first_address() && address < first_address() + span ? address + span : address;
}

bool is_device_address(std::uintptr_t address) { return bytes_at(address) != address; }

bool is_live(touched r) {
  const auto& m = memory();
  if (const auto a = m.allocated.containing(r.begin); a != m.allocated.end()) return r.end <= a->first + a->second;
  while (r.begin < r.end) {
    const auto page = m.usable.containing(r.begin);
    if (page == m.usable.end()) return false;
    r.begin = page->first + page->second;
  }
  return true;
}

void require_live(const work& w) {
  for (const auto& r : w.ranges) {
    if (!is_live(r)) complain("illegal address", w.name + " " + text_of(r) + ", which is not mapped when it is launched");
  }
}

std::pair<std::size_t, bool> locks_of(std::uintptr_t begin, std::uintptr_t past) {
  const auto& locked = memory().locked;
  std::size_t n = 0;
  for (; begin < past; ++n) {
    const auto a = locked.containing(begin);
    if (a == locked.end()) return {n + (locked.any_in(begin, past) ? 1 : 0), false};
    begin = a->first + a->second;
  }
  return {n, true};
}

std::uintptr_t take_addresses(std::size_t n) {
  static auto next = first_address();
  const auto at = next;
  next += (n + 2 * gap - 1) / gap * gap;
  return next <= first_address() + span ? at : 0;
}

void give_bytes(std::uintptr_t address, std::size_t n) {
  mmap(pointer_to(address), n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  std::memset(pointer_to(address), unknown_byte, std::min(n, std::size_t{1} << 16));
}

void take_bytes(std::uintptr_t address, std::size_t n) {
  mmap(pointer_to(address), n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace gpu_double
