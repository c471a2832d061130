// The runtime's functions for devices, and what the driver and the management library say of them.

#include "tests/support/gpu_double/memory.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

#include <dlfcn.h>

using namespace gpu_double;

namespace {

const auto gpus = static_cast<int>(setting("COUNT", 1));
auto& contexts = *new std::set<int>;   ///< GPUs that have one

/// LibTorch's operators can be replaced once its libraries are there, which ask for the number of GPUs first.
void load_operators() {
  static void* const library = dlopen("libgpu_double_operators.so", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) std::fprintf(stderr, "gpu-double: %s\n", dlerror()), std::abort();
}

}  // namespace

extern "C" {

CALL(cudaError_t, cudaGetDeviceCount, (int* n), {
  *n = gpus;
  if (gpus == 0) return cudaErrorNoDevice;
  l.unlock();   // the operators' library calls others
  load_operators();
})
CALL(cudaError_t, cudaSetDevice, (int device), {
  if (device < 0 || device >= gpus) return cudaErrorInvalidDevice;
  current_device = device;
  contexts.insert(device);   // since CUDA 12
})
cudaError_t cudaGetDevice(int* device) { return *device = current_device, cudaSuccess; }
CALL(cudaError_t, cudaGetDeviceProperties, (cudaDeviceProp* p, int), {
  *p = {};
  std::strcpy(p->name, "GPU double");
  p->totalGlobalMem = capacity;
  p->major = 9;
  p->multiProcessorCount = 132;
})
CALL(cudaError_t, cudaDeviceGetPCIBusId, (char* id, int n, int device), {
  std::snprintf(id, static_cast<std::size_t>(n), "0000:%02x:00.0", device + 1);
})
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return *least = 0, *greatest = -5, cudaSuccess;
}

// -- the driver ---

cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
CALL(cudaError_t, cudaGetDriverEntryPointByVersion,
     (const char* name, void** f, unsigned, unsigned long long, cudaDriverEntryPointQueryResult* found), {
  l.unlock();   // dlsym has a lock of its own
  void* const known = dlsym(RTLD_DEFAULT, name);
  *f = known != nullptr ? known : reinterpret_cast<void*>(+[] { return CUDA_ERROR_NOT_SUPPORTED; });
  if (found != nullptr) *found = cudaDriverEntryPointSuccess;
})
CUresult cuDeviceGet(CUdevice* device, int index) { return *device = index, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute a, CUdevice) {
  return *value = a == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ? 1 : 0, CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  const lock l{mutex};
  return *flags = 0, *active = contexts.contains(device) ? 1 : 0, CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult, const char** name) { return *name = "an error of the double", CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char** text) { return *text = "an error of the double", CUDA_SUCCESS; }

// -- the management library ---

CALL(int, nvmlInit_v2, (), {})
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) { return *device = &memory, 0; }
/// Total, free, used. The first to ask does so before there is a context.
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* bytes) {
  const lock l{mutex};
  static bool asked = false;
  bytes[0] = capacity;
  bytes[2] = std::exchange(asked, true) ? used_bytes : 0;
  bytes[1] = bytes[0] - bytes[2];
  return 0;
}
/// 250 J more with each question, in millijoules.
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* used) {
  const lock l{mutex};
  static unsigned long long counted = 1'000'000;
  return *used = counted += 250'000, 0;
}

}  // extern "C"
