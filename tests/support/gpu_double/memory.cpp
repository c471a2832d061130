#include "tests/support/gpu_double/memory.hpp"

#include "tests/support/gpu_double/streams.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include <sys/mman.h>

namespace gpu_double {

namespace {

constexpr std::uintptr_t span = std::uintptr_t{1} << 44;   ///< of the addresses, and then of their bytes
constexpr std::size_t gap = std::size_t{2} << 20;           ///< at least, between two ranges
constexpr std::size_t rubbish = std::size_t{1} << 16;       ///< bytes at most that are filled with it

std::uintptr_t round_up(std::uintptr_t n) { return (n + gap - 1) / gap * gap; }

void* remap(std::uintptr_t at, std::size_t n, int access, int flags = MAP_FIXED) {
  return mmap(reinterpret_cast<void*>(at), n, access, flags | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

const auto first_address = round_up(reinterpret_cast<std::uintptr_t>(remap(0, 2 * span + gap, PROT_NONE, 0)));

/// After a failure that was asked for, wrong calls are only refused: whoever gives back what is left may make some.
CUresult wrong(const std::string& what) {
  if (counted("failures on request") == 0) complain("wrong call", what);
  return CUDA_ERROR_INVALID_VALUE;
}

touched range(std::uintptr_t begin, std::size_t n) { return {begin, begin + n, true}; }

}  // namespace

areas::const_iterator areas::last_in(touched r) const {
  const auto next = lower_bound(r.end);
  if (next == begin()) return end();
  const auto last = std::prev(next);
  return last->first + last->second > r.begin ? last : end();
}

bool areas::have_all_of(touched r) const {
  while (r.begin < r.end) {
    const auto last = last_in(r);
    if (last == end() || last->first + last->second < r.end) return false;
    r.end = last->first;
  }
  return true;
}

std::uintptr_t bytes_at(std::uintptr_t address) noexcept {
  return address >= first_address && address < first_address + span ? address + span : address;
}

bool all_live(const work& w, const char* does, bool of_host_too) {
  for (const auto& r : w.ranges) {
    if ((bytes_at(r.begin) == r.begin && !of_host_too) || memory.live.have_all_of(r)) continue;
    complain("illegal address", w.name + " " + text_of(r) + ", which is not mapped when it " + does);
    return false;
  }
  return true;
}

std::uintptr_t take_addresses(std::size_t n) {
  static auto next = first_address;
  const auto at = std::exchange(next, next + round_up(n) + gap);
  return next <= first_address + span ? at : 0;
}

void give_bytes(std::uintptr_t address, std::size_t n) {
  memory.live[address] = n;
  std::memset(remap(bytes_at(address), n, PROT_READ | PROT_WRITE), unknown_byte, std::min(n, rubbish));
}

void take_bytes(std::uintptr_t address, std::size_t n) {
  memory.live.erase(address);
  remap(bytes_at(address), n, PROT_NONE);
}

}  // namespace gpu_double

using namespace gpu_double;

extern "C" {

CALL(cudaError_t, cudaMemGetInfo, (std::size_t* free, std::size_t* total), {
  *free = capacity - used_bytes;
  *total = capacity;
})
CALL(cudaError_t, cudaMalloc, (void** p, std::size_t n), {
  const auto size = (n + 511) / 512 * 512;
  const auto at = used_bytes + size > capacity ? 0 : take_addresses(size);
  if (at == 0) return cudaErrorMemoryAllocation;
  used_bytes += size;
  give_bytes(at, size);
  *p = reinterpret_cast<void*>(at);
})
/// Waits for all that GPUs have to do.
CALL(cudaError_t, cudaFree, (void* p), {
  if (p == nullptr) return cudaSuccess;
  wait_for(l, nullptr);
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  const bool allocated = memory.live.contains(at) && !memory.mapped.contains(at);
  if (!allocated) return complain("wrong call", "cudaFree of what was not allocated"), cudaErrorInvalidValue;
  used_bytes -= memory.live[at];
  take_bytes(at, memory.live[at]);
})
CALL(cudaError_t, cudaHostRegister, (void* p, std::size_t n, unsigned), {
  const auto r = range_of(p, n, true);
  if (memory.locked.have_some_of(r)) return cudaErrorHostMemoryAlreadyRegistered;
  memory.locked[r.begin] = n;
})
CALL(cudaError_t, cudaHostUnregister, (void* p), {
  const auto it = memory.locked.find(reinterpret_cast<std::uintptr_t>(p));
  if (it == memory.locked.end()) return cudaErrorHostMemoryNotRegistered;
  const auto user = user_of(range_of(p, it->second, true));
  if (!user.empty()) complain("unlocked in use", user + " still uses host memory that is unlocked");
  memory.locked.erase(it);
})

// -- virtual memory ---

CALL(CUresult, cuMemGetAllocationGranularity,
     (std::size_t * n, const CUmemAllocationProp*, CUmemAllocationGranularity_flags), { *n = page_unit; })
CALL(CUresult, cuMemAddressReserve, (CUdeviceptr* p, std::size_t n, std::size_t, CUdeviceptr, unsigned long long), {
  if (n % page_unit != 0) return wrong("cuMemAddressReserve of a part of a page");
  *p = take_addresses(n);
  if (*p == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  memory.reserved[*p] = n;
})
CALL(CUresult, cuMemAddressFree, (CUdeviceptr p, std::size_t n), {
  const auto it = memory.reserved.find(p);
  if (it == memory.reserved.end() || it->second != n) return wrong("cuMemAddressFree of a range that was not reserved");
  if (memory.mapped.have_some_of(range(p, n))) return wrong("cuMemAddressFree while pages are mapped");
  memory.reserved.erase(it);
})
using page_handle = CUmemGenericAllocationHandle;
CALL(CUresult, cuMemCreate, (page_handle* handle, std::size_t n, const CUmemAllocationProp*, unsigned long long), {
  static page_handle made = 0;
  if (n % page_unit != 0) return wrong("cuMemCreate of a part of a page");
  if (used_bytes + n > capacity) return CUDA_ERROR_OUT_OF_MEMORY;
  used_bytes += n;
  memory.pages[*handle = ++made] = n;
})
CALL(CUresult, cuMemRelease, (page_handle handle), {
  const auto page = memory.pages.find(handle);
  if (page == memory.pages.end()) return wrong("cuMemRelease of what is not a page");
  used_bytes -= page->second;
  memory.pages.erase(page);
})
CALL(CUresult, cuMemMap, (CUdeviceptr p, std::size_t n, std::size_t offset, page_handle handle, unsigned long long), {
  const auto page = memory.pages.find(handle);
  if (offset != 0 || page == memory.pages.end() || n != page->second)
    return wrong("cuMemMap of what is not a page as a whole");
  const bool free = memory.reserved.have_all_of(range(p, n)) && !memory.mapped.have_some_of(range(p, n));
  if (!free || p % page_unit != 0) return wrong("cuMemMap to where no page can be");
  memory.mapped[p] = n;
})
CALL(CUresult, cuMemSetAccess, (CUdeviceptr p, std::size_t n, const CUmemAccessDesc*, std::size_t), {
  for (const auto past = p + n; p < past; p += memory.mapped[p]) {
    const auto page = memory.mapped.find(p);
    if (page == memory.mapped.end() || p + page->second > past)
      return wrong("cuMemSetAccess of what is not mapped as a whole");
    if (!memory.live.contains(p)) give_bytes(p, page->second);
  }
})
/// Of one page.
CALL(CUresult, cuMemUnmap, (CUdeviceptr p, std::size_t n), {
  const auto page = memory.mapped.find(p);
  if (page == memory.mapped.end() || n != page->second) return wrong("cuMemUnmap of what is not one page");
  const auto user = user_of(range(p, n));
  if (!user.empty()) complain("unmapped in use", user + " still uses a page that is unmapped");
  take_bytes(p, n);
  memory.mapped.erase(page);
})

}  // extern "C"
