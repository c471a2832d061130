#pragma once
// Addresses, and the bytes behind them: memory of the GPUs, pages that are mapped, host memory that is locked. All GPUs
// share one amount. Addresses are never given twice. A page that is mapped elsewhere has lost its bytes. All functions:
// with the lock held.

#include "tests/support/gpu_double/calls.hpp"
#include "tests/support/gpu_double/launch.hpp"

namespace gpu_double {

inline const std::size_t page_unit = setting("PAGE_KIB", 2048) << 10;    ///< pages have a multiple of it
inline const std::size_t capacity = setting("MEMORY_MIB", 8192) << 20;   ///< of all GPUs together
inline std::size_t used_bytes = std::size_t{300} << 20;                  ///< at first what contexts take

constexpr int unknown_byte = 0xCB;   ///< what is read too early

/// Sizes of ranges that do not overlap, by where they begin.
struct areas : std::map<std::uintptr_t, std::size_t> {
  /// The last one that has a part of the range, or end().
  const_iterator last_in(touched r) const;
  bool have_some_of(touched r) const { return last_in(r) != end(); }
  bool have_all_of(touched r) const;
};

struct memory_areas {
  areas live{};       ///< what work may use: of cudaMalloc, and pages with access
  areas mapped{};     ///< pages
  areas reserved{};   ///< addresses for pages
  areas pages{};      ///< by handle
  areas locked{};     ///< of the host
};
inline auto& memory = *new memory_areas;

inline bool is_on_device(const void* p) { return bytes_at(p) != p; }
/// Complains of addresses that the work uses and that are not live when it `does` something.
bool all_live(const work& w, const char* does, bool of_host_too = false);

/// Fresh addresses of a GPU; 0: there are none left.
std::uintptr_t take_addresses(std::size_t n);
/// Makes addresses of a GPU live, with rubbish behind them, or takes away what is there.
void give_bytes(std::uintptr_t address, std::size_t n);
void take_bytes(std::uintptr_t address, std::size_t n);

}  // namespace gpu_double
