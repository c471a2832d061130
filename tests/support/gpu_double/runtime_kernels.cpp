// Kernels: what nvcc generates calls these functions. A kernel without a host version (kernels.cpp) is an error.

#include "tests/support/gpu_double/memory.hpp"
#include "tests/support/gpu_double/report.hpp"
#include "tests/support/gpu_double/streams.hpp"

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <cxxabi.h>

using namespace gpu_double;

namespace gpu_double {

std::map<std::string, kernel_maker>& kernel_makers() {
  static auto* const all = new std::map<std::string, kernel_maker>;
  return *all;
}

}  // namespace gpu_double

namespace {

struct configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};
thread_local configuration next_launch;

/// Mangled names, by the address of the function on the host.
std::map<const void*, std::string>& kernel_names() {
  static auto* const all = new std::map<const void*, std::string>;
  return *all;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text{abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free};
  return text ? text.get() : name;
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* it = nullptr;
  return &it;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*, int*) {
  const lock l{mutex()};
  kernel_names()[host] = name;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, cudaStream_t on) {
  next_launch = {grid, block, shared, on};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* on) {
  *grid = next_launch.grid;
  *block = next_launch.block;
  *shared = next_launch.shared;
  *static_cast<cudaStream_t*>(on) = next_launch.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* f) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(f));
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* f, dim3 grid, dim3 block, void** arguments, std::size_t, cudaStream_t on) {
  return called("cudaLaunchKernel", [&](const lock&) {
    const auto known = kernel_names().find(f);
    const auto name = known == kernel_names().end() ? "?" : demangled(known->second);
    for (const auto& [part, make] : kernel_makers()) {
      if (name.find(part) == std::string::npos) continue;
      auto what = make({grid.x, block.x}, arguments);
      require_live(what);
      enqueue(stream_of(on), std::move(what));
      return cudaSuccess;
    }
    complain("unknown kernel", name);
    return cudaErrorInvalidDeviceFunction;
  });
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t on) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared, on);
}

}  // extern "C"
