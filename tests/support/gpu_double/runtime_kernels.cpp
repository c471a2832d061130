// Kernels: what nvcc generates calls these functions. A kernel without a host version (kernels.cpp) is an error.

#include "tests/support/gpu_double/memory.hpp"
#include "tests/support/gpu_double/streams.hpp"

#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include <cxxabi.h>

using namespace gpu_double;

std::map<std::string, kernel_maker>& gpu_double::kernel_makers() {
  static auto* const all = new std::map<std::string, kernel_maker>;
  return *all;
}

namespace {

thread_local std::tuple<dim3, dim3, std::size_t, cudaStream_t> next_launch;

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

void** __cudaRegisterFatBinary(void*) { return new void*; }
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
  std::tie(*grid, *block, *shared, *static_cast<cudaStream_t*>(on)) = next_launch;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(void** kernel, void* f) { return *kernel = f, cudaSuccess; }
cudaError_t cudaLaunchKernel(const void* f, dim3 grid, dim3 block, void** arguments, std::size_t, cudaStream_t on) {
  return called("cudaLaunchKernel", [&] {
    const auto known = kernel_names().find(f);
    const auto name = known == kernel_names().end() ? "?" : demangled(known->second);
    for (const auto& [part, make] : kernel_makers()) {
      if (name.find(part) == std::string::npos) continue;
      auto what = make({grid.x, block.x}, arguments);
      require_live(what);
      enqueue(stream_of(on), std::move(what));
      return cudaSuccess;
    }
    return complain("unknown kernel", name), cudaErrorInvalidDeviceFunction;
  });
}
cudaError_t __cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t on) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, on);
}

}  // extern "C"
