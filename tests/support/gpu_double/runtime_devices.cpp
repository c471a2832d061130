// The runtime's functions for devices and memory.

#include "tests/support/gpu_double/memory.hpp"
#include "tests/support/gpu_double/streams.hpp"

#include <cstdio>
#include <cstring>
#include <string>

#include <dlfcn.h>

using namespace gpu_double;

namespace {

int gpus() {
  static const auto n = static_cast<int>(setting("COUNT", 1));
  return n;
}

/// LibTorch's operators can be replaced once its libraries are there, which ask for the number of GPUs first.
bool load_operators() {
  Dl_info here{};
  dladdr(reinterpret_cast<void*>(&load_operators), &here);
  const std::string own{here.dli_fname};
  const auto file = own.substr(0, own.rfind('/') + 1) + "libgpu_double_operators.so";
  if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) std::fprintf(stderr, "gpu-double: %s\n", dlerror());
  return true;
}

cudaDeviceProp properties() {
  cudaDeviceProp p{};
  std::strcpy(p.name, "GPU double");
  p.totalGlobalMem = capacity();
  p.major = 9;
  p.multiProcessorCount = 132;
  return p;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* n) {
  const auto e = called("cudaGetDeviceCount", [&] {
    *n = gpus();
    return *n == 0 ? cudaErrorNoDevice : cudaSuccess;
  });
  if (e == cudaSuccess) {
    [[maybe_unused]] static const bool once = load_operators();
  }
  return e;
}
cudaError_t cudaSetDevice(int device) {
  return called("cudaSetDevice", [&] {
    if (device < 0 || device >= gpus()) return cudaErrorInvalidDevice;
    current_device() = device;
    contexts().insert(device);  // since CUDA 12
    return cudaSuccess;
  });
}
cudaError_t cudaGetDevice(int* device) { return *device = current_device(), cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
  return called("cudaGetDeviceProperties", [&] { *p = properties(); });
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int n, int device) {
  return called("cudaDeviceGetPCIBusId", [&] { std::snprintf(id, static_cast<std::size_t>(n), "0000:%02x:00.0", device + 1); });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) { return *least = 0, *greatest = -5, cudaSuccess; }
cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }

// -- memory ---

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return called("cudaMemGetInfo", [&] {
    *free = capacity() - used_bytes();
    *total = capacity();
  });
}
cudaError_t cudaMalloc(void** p, std::size_t n) {
  return called("cudaMalloc", [&] {
    const auto size = (n + 511) / 512 * 512;
    const auto at = used_bytes() + size > capacity() ? 0 : take_addresses(size);
    if (at == 0) return cudaErrorMemoryAllocation;
    contexts().insert(current_device());
    give_bytes(at, size);
    memory().allocated[at] = size;
    used_bytes() += size;
    *p = reinterpret_cast<void*>(at);
    return cudaSuccess;
  });
}
/// Waits for all that GPUs have to do.
cudaError_t cudaFree(void* p) {
  return called("cudaFree", [&](lock& l) {
    if (p == nullptr) return cudaSuccess;
    wait_for(l, nullptr);
    const auto it = memory().allocated.find(reinterpret_cast<std::uintptr_t>(p));
    if (it == memory().allocated.end()) return complain("wrong call", "cudaFree of what was not allocated"), cudaErrorInvalidValue;
    take_bytes(it->first, it->second);
    used_bytes() -= it->second;
    memory().allocated.erase(it);
    return cudaSuccess;
  });
}
cudaError_t cudaHostRegister(void* p, std::size_t n, unsigned) {
  return called("cudaHostRegister", [&] {
    const auto begin = reinterpret_cast<std::uintptr_t>(p);
    contexts().insert(current_device());
    if (memory().locked.any_in(begin, begin + n)) return cudaErrorHostMemoryAlreadyRegistered;
    memory().locked[begin] = n;
    return cudaSuccess;
  });
}
cudaError_t cudaHostUnregister(void* p) {
  return called("cudaHostUnregister", [&] {
    const auto it = memory().locked.find(reinterpret_cast<std::uintptr_t>(p));
    if (it == memory().locked.end()) return cudaErrorHostMemoryNotRegistered;
    const auto user = user_of(range_of(p, it->second, true));
    if (!user.empty()) complain("unlocked in use", user + " still uses host memory that is unlocked");
    memory().locked.erase(it);
    return cudaSuccess;
  });
}

}  // extern "C"
