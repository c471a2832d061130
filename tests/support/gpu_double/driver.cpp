// The driver's functions for virtual memory, which cudaGetDriverEntryPointByVersion hands out, and the management library. Others
// are there and answer that they are not supported. Not modelled: which GPU a page is on, and a driver that waits.

#include "tests/support/gpu_double/memory.hpp"
#include "tests/support/gpu_double/streams.hpp"

#include <string>
#include <vector>

using namespace gpu_double;

namespace {

/// After a failure that was asked for, wrong calls are only refused: whoever gives back what is left may make some.
CUresult wrong(const std::string& what) {
  if (counted("failures on request") == 0) complain("wrong call", what);
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult page_size(std::size_t* n, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
  return called<CUresult>("cuMemGetAllocationGranularity", [&] { *n = granularity(); });
}

CUresult reserve(CUdeviceptr* p, std::size_t n, std::size_t, CUdeviceptr, unsigned long long) {
  return called<CUresult>("cuMemAddressReserve", [&] {
    if (n % granularity() != 0) return wrong("cuMemAddressReserve of a part of a page");
    *p = take_addresses(n);
    if (*p == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    memory().reserved[*p] = n;
    return CUDA_SUCCESS;
  });
}

CUresult free_range(CUdeviceptr p, std::size_t n) {
  return called<CUresult>("cuMemAddressFree", [&] {
    const auto it = memory().reserved.find(p);
    if (it == memory().reserved.end() || it->second != n) return wrong("cuMemAddressFree of a range that was not reserved");
    if (memory().mapped.any_in(p, p + n)) return wrong("cuMemAddressFree while pages are mapped");
    memory().reserved.erase(it);
    return CUDA_SUCCESS;
  });
}

CUresult create(CUmemGenericAllocationHandle* handle, std::size_t n, const CUmemAllocationProp*, unsigned long long) {
  return called<CUresult>("cuMemCreate", [&] {
    static CUmemGenericAllocationHandle made = 0;
    if (n % granularity() != 0) return wrong("cuMemCreate of a part of a page");
    if (used_bytes() + n > capacity()) return CUDA_ERROR_OUT_OF_MEMORY;
    used_bytes() += n;
    memory().pages[*handle = ++made] = n;
    return CUDA_SUCCESS;
  });
}

CUresult release(CUmemGenericAllocationHandle handle) {
  return called<CUresult>("cuMemRelease", [&] {
    const auto page = memory().pages.find(handle);
    if (page == memory().pages.end()) return wrong("cuMemRelease of what is no page");
    used_bytes() -= page->second;
    memory().pages.erase(page);
    return CUDA_SUCCESS;
  });
}

CUresult map(CUdeviceptr p, std::size_t n, std::size_t offset, CUmemGenericAllocationHandle handle, unsigned long long) {
  return called<CUresult>("cuMemMap", [&] {
    auto& m = memory();
    const auto range = m.reserved.containing(p);
    const auto page = m.pages.find(handle);
    const bool inside = range != m.reserved.end() && p + n <= range->first + range->second;
    if (!inside || p % granularity() != 0 || m.mapped.any_in(p, p + n)) return wrong("cuMemMap to where no page can be");
    if (offset != 0 || page == m.pages.end() || n != page->second) return wrong("cuMemMap of what is no page as a whole");
    m.mapped[p] = n;
    return CUDA_SUCCESS;
  });
}

/// The pages that a range consists of; none: it consists of others, too.
std::vector<std::uintptr_t> pages_of(std::uintptr_t p, std::size_t n) {
  std::vector<std::uintptr_t> found;
  for (const auto past = p + n; p < past; p += memory().mapped.at(p)) {
    const auto it = memory().mapped.find(p);
    if (it == memory().mapped.end() || p + it->second > past) return {};
    found.push_back(p);
  }
  return found;
}

CUresult set_access(CUdeviceptr p, std::size_t n, const CUmemAccessDesc*, std::size_t) {
  return called<CUresult>("cuMemSetAccess", [&] {
    const auto pages = pages_of(p, n);
    for (const auto at : pages) {
      const auto size = memory().mapped.at(at);
      if (memory().usable.emplace(at, size).second) give_bytes(at, size);
    }
    return pages.empty() ? wrong("cuMemSetAccess of what is not mapped") : CUDA_SUCCESS;
  });
}

CUresult unmap(CUdeviceptr p, std::size_t n) {
  return called<CUresult>("cuMemUnmap", [&] {
    const auto user = user_of({p, p + n, true});
    if (!user.empty()) complain("unmapped in use", user + " still uses a page that is unmapped");
    const auto pages = pages_of(p, n);
    for (const auto at : pages) {
      take_bytes(at, memory().mapped.at(at));
      memory().mapped.erase(at);
      memory().usable.erase(at);
    }
    return pages.empty() ? wrong("cuMemUnmap of what is not mapped as a whole") : CUDA_SUCCESS;
  });
}

CUresult device_get(CUdevice* device, int index) { return *device = index, CUDA_SUCCESS; }

CUresult attribute(int* value, CUdevice_attribute a, CUdevice) {
  *value = a == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult error_text(CUresult, const char** text) { return *text = "an error of the double", CUDA_SUCCESS; }

CUresult not_supported() { return CUDA_ERROR_NOT_SUPPORTED; }

template <class F>
void* entry(F f) {
  return reinterpret_cast<void*>(f);
}

void* entry_point(const std::string& name) {
  static const std::map<std::string, void*> known{
      {"cuMemGetAllocationGranularity", entry(page_size)}, {"cuMemAddressReserve", entry(reserve)},
      {"cuMemAddressFree", entry(free_range)},             {"cuMemCreate", entry(create)},
      {"cuMemRelease", entry(release)},                    {"cuMemMap", entry(map)},
      {"cuMemSetAccess", entry(set_access)},               {"cuMemUnmap", entry(unmap)},
      {"cuDeviceGet", entry(device_get)},                  {"cuDeviceGetAttribute", entry(attribute)},
      {"cuGetErrorString", entry(error_text)}};
  const auto found = known.find(name);
  return found == known.end() ? entry(not_supported) : found->second;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** f, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  return called("cudaGetDriverEntryPointByVersion", [&] {
    *f = entry_point(name);
    if (found) *found = cudaDriverEntryPointSuccess;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  const lock l{mutex()};
  *flags = 0;
  *active = contexts().contains(device) ? 1 : 0;
  return CUDA_SUCCESS;
}

int nvmlInit_v2() { return called<CUresult>("nvmlInit", [] {}); }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) { return *device = &memory(), 0; }
/// Total, free, used. The first to ask does so before there is a context.
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* bytes) {
  const lock l{mutex()};
  static int asked = 0;
  bytes[0] = capacity();
  bytes[2] = asked++ == 0 ? 0 : used_bytes();
  bytes[1] = bytes[0] - bytes[2];
  return 0;
}

}  // extern "C"
