#include "runtime/device/cuda/gpu.hpp"

#include "runtime/device/cuda/cuda_check.hpp"
#include "runtime/device/cuda/management_library.hpp"

#include <c10/cuda/CUDAGuard.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <mutex>
#include <optional>

namespace hydra {

namespace {

using namespace literals;

/// Used where the management library is not available: what LibTorch's kernels were observed to take, with a margin.
constexpr byte_count usual_context = 640_MiB;

/// For kernels that are loaded later: 136 MiB in the training of a Llama in bf16 on an H100.
constexpr byte_count context_growth = 256_MiB;

[[noreturn]] void refuse(cudaError_t e, const char* what) {
  throw fault_error(fault_code::bad_input, fmt::format("{} ({})", what, cudaGetErrorString(e)));
}

cudaDeviceProp properties(int index) {
  cudaDeviceProp p{};
  cuda_check(cudaGetDeviceProperties(&p, index), "the GPU's properties cannot be queried");
  return p;
}

/// Memory in use on the whole GPU before and after this process's context was created.
byte_count measured_context(const std::optional<byte_count>& before, const std::optional<byte_count>& after) {
  if (!before || !after || *after <= *before) {
    return usual_context;
  }
  return *after - *before + context_growth;
}

/// The process has one context per GPU, whoever creates it.
byte_count make_context(int index) {
  static std::mutex mutex;
  static std::map<int, byte_count> known;
  const std::lock_guard lock{mutex};
  const auto found = known.find(index);
  if (found != known.end()) {
    return found->second;
  }
  const managed_gpu gpu(bus_of(index));
  const auto before = gpu.memory_in_use();
  const c10::cuda::CUDAGuard here(static_cast<c10::DeviceIndex>(index));
  cuda_check(cudaFree(nullptr), "the GPU gives no context");
  return known.emplace(index, measured_context(before, gpu.memory_in_use())).first->second;
}

}  // namespace

std::string bus_of(int index) {
  std::array<char, 32> id{};
  cuda_check(cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), index),
             "the GPU's PCI bus id cannot be queried");
  return id.data();
}

int count_gpus() {
  int n = 0;
  const auto e = cudaGetDeviceCount(&n);
  cuda_ignore(e);
  if (e == cudaErrorInsufficientDriver) {
    refuse(e, "there is no NVIDIA driver, or it is older than CUDA 13: install or update it");
  }
  if (e == cudaErrorNoDevice || (e == cudaSuccess && n == 0)) {
    refuse(e, "there is no GPU, or CUDA_VISIBLE_DEVICES hides it");
  }
  if (e != cudaSuccess) {
    refuse(e, "the NVIDIA driver does not answer");
  }
  return n;
}

gpu_facts look_at_gpu(int index) {
  const int n = count_gpus();
  if (index >= n) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("index: there is no GPU {}; this machine has {}, counted from 0", index, n));
  }
  const auto context = make_context(index);
  const c10::cuda::CUDAGuard here(static_cast<c10::DeviceIndex>(index));
  std::size_t free = 0;
  std::size_t total = 0;
  cuda_check(cudaMemGetInfo(&free, &total), "the GPU's memory cannot be queried");
  return {properties(index).name, byte_count{total}, byte_count{free}, context, context_growth};
}

std::vector<std::string> describe_gpus() {
  std::vector<std::string> lines;
  for (int i = 0; i < count_gpus(); ++i) {
    const auto p = properties(i);
    lines.push_back(fmt::format("index {}: {}, {}, {} multiprocessors, compute capability {}.{}", i, p.name,
                                to_string(byte_count{p.totalGlobalMem}), p.multiProcessorCount, p.major, p.minor));
  }
  return lines;
}

}  // namespace hydra
