#pragma once
// Addresses, and the bytes behind them: memory of the GPUs, pages that are mapped, host memory that is locked. All GPUs share one
// amount. Addresses are never given twice. A page that is mapped elsewhere has lost its bytes. All functions: with the lock held.

#include "tests/support/gpu_double/launch.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace gpu_double {

/// Pages have a multiple of it.
std::size_t granularity();

/// Of all GPUs together, in bytes.
std::size_t capacity();
std::size_t& used_bytes();

/// Sizes of ranges, by where they begin.
struct areas : std::map<std::uintptr_t, std::size_t> {
  /// The one that has the address, or end().
  const_iterator containing(std::uintptr_t address) const;
  bool any_in(std::uintptr_t begin, std::uintptr_t past) const;
};

struct memory_areas {
  areas allocated{};   ///< cudaMalloc
  areas locked{};      ///< of the host: cudaHostRegister
  areas reserved{};    ///< addresses for pages
  areas mapped{};      ///< pages
  areas usable{};      ///< of them, those with access
  areas pages{};       ///< by handle
};
memory_areas& memory();

bool is_device_address(std::uintptr_t address);
/// Whether all of it may be used by work.
bool is_live(touched r);
/// Complains of what the work uses and is not there when it is launched.
void require_live(const work& w);

/// How many locked areas a range of the host touches, and whether they are all of it.
std::pair<std::size_t, bool> locks_of(std::uintptr_t begin, std::uintptr_t past);

/// Fresh addresses of a GPU; 0: there are none left.
std::uintptr_t take_addresses(std::size_t n);
/// Puts bytes, which are rubbish, behind addresses of a GPU, or takes them away.
void give_bytes(std::uintptr_t address, std::size_t n);
void take_bytes(std::uintptr_t address, std::size_t n);

}  // namespace gpu_double
