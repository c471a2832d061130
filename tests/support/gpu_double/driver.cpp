// The driver's functions for virtual memory, which cudaGetDriverEntryPointByVersion hands out, and the management library. Others
// are there and answer that they are not supported. Not modelled: which GPU a page is on.

#include "tests/support/gpu_double/memory.hpp"
#include "tests/support/gpu_double/races.hpp"
#include "tests/support/gpu_double/report.hpp"

#include <string>
#include <vector>

using namespace gpu_double;

namespace {

template <class F>
void* entry(F f) {
  return reinterpret_cast<void*>(f);
}

/// After a failure that was asked for, wrong calls are only refused: whoever gives back what is left may make some.
CUresult wrong(const std::string& what) {
  if (counted("failures on request") == 0) complain("wrong call", what);
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult page_size(std::size_t* n, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
  return driver_called("cuMemGetAllocationGranularity", [&] {
    *n = granularity();
    return CUDA_SUCCESS;
  });
}

CUresult reserve(CUdeviceptr* p, std::size_t n, std::size_t, CUdeviceptr, unsigned long long) {
  return driver_called("cuMemAddressReserve", [&] {
    if (n % granularity() != 0) return wrong("cuMemAddressReserve of a part of a page");
    const auto at = take_addresses(n);
    if (at == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    memory().reserved[at] = n;
    *p = at;
    return CUDA_SUCCESS;
  });
}

CUresult free_range(CUdeviceptr p, std::size_t n) {
  return driver_called("cuMemAddressFree", [&] {
    const auto it = memory().reserved.find(p);
    if (it == memory().reserved.end() || it->second != n) return wrong("cuMemAddressFree of a range that was not reserved");
    if (memory().mapped.any_in(p, p + n)) return wrong("cuMemAddressFree while pages are mapped");
    memory().reserved.erase(it);
    return CUDA_SUCCESS;
  });
}

CUresult create(CUmemGenericAllocationHandle* handle, std::size_t n, const CUmemAllocationProp*, unsigned long long) {
  return driver_called("cuMemCreate", [&] {
    if (n % granularity() != 0) return wrong("cuMemCreate of a part of a page");
    *handle = make_page(n);
    return *handle == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
  });
}

CUresult release(CUmemGenericAllocationHandle handle) {
  return driver_called("cuMemRelease", [&] {
    return release_page(handle) ? CUDA_SUCCESS : wrong("cuMemRelease of what is no page");
  });
}

CUresult map(CUdeviceptr p, std::size_t n, std::size_t offset, CUmemGenericAllocationHandle handle, unsigned long long) {
  return driver_called("cuMemMap", [&] {
    const auto& m = memory();
    const auto range = m.reserved.containing(p);
    const bool inside = range != m.reserved.end() && p + n <= range->first + range->second;
    if (!inside || p % granularity() != 0 || m.mapped.any_in(p, p + n)) return wrong("cuMemMap to where no page can be");
    if (offset != 0 || n == 0 || n != size_of_page(handle)) return wrong("cuMemMap of what is no page as a whole");
    map_page(p, handle);
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
  return driver_called("cuMemSetAccess", [&] {
    const auto pages = pages_of(p, n);
    for (const auto at : pages) allow_page(at);
    return pages.empty() ? wrong("cuMemSetAccess of what is not mapped") : CUDA_SUCCESS;
  });
}

/// Waits for nothing, as on a GPU.
CUresult unmap(CUdeviceptr p, std::size_t n) {
  return driver_called("cuMemUnmap", [&] {
    const auto user = user_of({p, p + n, true});
    if (!user.empty()) complain("unmapped in use", user + " still uses a page that is unmapped");
    const auto pages = pages_of(p, n);
    for (const auto at : pages) unmap_page(at);
    return pages.empty() ? wrong("cuMemUnmap of what is not mapped as a whole") : CUDA_SUCCESS;
  });
}

CUresult device_get(CUdevice* device, int index) {
  *device = index;
  return CUDA_SUCCESS;
}

CUresult attribute(int* value, CUdevice_attribute a, CUdevice) {
  *value = a == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult error_text(CUresult, const char** text) {
  *text = "an error of the double";
  return CUDA_SUCCESS;
}

CUresult not_supported() { return CUDA_ERROR_NOT_SUPPORTED; }

void* entry_point(const std::string& name) {
  static const std::map<std::string, void*> known{
      {"cuMemGetAllocationGranularity", entry(page_size)}, {"cuMemAddressReserve", entry(reserve)},
      {"cuMemAddressFree", entry(free_range)},               {"cuMemCreate", entry(create)},
      {"cuMemRelease", entry(release)},                      {"cuMemMap", entry(map)},
      {"cuMemSetAccess", entry(set_access)},                 {"cuMemUnmap", entry(unmap)},
      {"cuDeviceGet", entry(device_get)},                    {"cuDeviceGetAttribute", entry(attribute)},
      {"cuGetErrorString", entry(error_text)}};
  const auto found = known.find(name);
  return found == known.end() ? entry(not_supported) : found->second;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** f, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  return called("cudaGetDriverEntryPointByVersion", [&](const lock&) {
    *f = entry_point(name);
    if (found) *found = cudaDriverEntryPointSuccess;
    return cudaSuccess;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  const lock l{mutex()};
  *flags = 0;
  *active = contexts().contains(device) ? 1 : 0;
  return CUDA_SUCCESS;
}

// -- the management library ---

int nvmlInit_v2() { return driver_called("nvmlInit", [] { return CUDA_SUCCESS; }); }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) {
  *device = &memory();
  return 0;
}
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
