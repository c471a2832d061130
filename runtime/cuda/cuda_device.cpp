#include "runtime/cuda/cuda_device.hpp"

#include "runtime/cuda/cuda_allocator.hpp"
#include "runtime/cuda/cuda_check.hpp"
#include "runtime/cuda/cuda_driver.hpp"
#include "runtime/cuda/cuda_numerics.hpp"
#include "runtime/cuda/expandable_memory.hpp"
#include "runtime/cuda/gpu.hpp"
#include "runtime/streams/arena_memory.hpp"
#include "runtime/streams/stream_device.hpp"

#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

/// Of the arena: what lies between blocks and is too small for the next (bench arena: how much that is).
byte_count fragmentation_room(byte_count arena) { return byte_count{arena.value() / 32}; }

/// One piece of the GPU's memory, given back with the last tensor in it.
class gpu_memory {
 public:
  gpu_memory(int gpu, byte_count size) {
    const c10::cuda::CUDAGuard here(static_cast<c10::DeviceIndex>(gpu));
    void* p = nullptr;
    cuda_check(cudaMalloc(&p, size.value()), "the device's memory cannot be had in one piece");
    base_ = static_cast<std::byte*>(p);
  }
  ~gpu_memory() { cudaFree(base_); }
  gpu_memory(const gpu_memory&) = delete;
  gpu_memory& operator=(const gpu_memory&) = delete;

  std::byte* base() const noexcept { return base_; }

 private:
  std::byte* base_ = nullptr;
};

std::shared_ptr<launch_memory> make_memory(const cuda_options& o, byte_count budget, byte_count context) {
  if (o.pool == pool_kind::expandable) {
    return make_expandable_memory(budget, context);
  }
  const byte_count size{(budget - context).value() / 512 * 512};
  auto bytes = std::make_shared<gpu_memory>(o.index, size);
  auto* const base = bytes->base();
  return std::make_shared<arena_memory>(base, size, std::move(bytes), context);
}

byte_count checked_budget(const cuda_options& o, const gpu_facts& gpu, byte_count context) {
  using namespace literals;
  const auto budget = memory_budget(o.name, o.memory, gpu.free, gpu.total);
  const auto least = context + workspace_bytes() + 32_MiB;
  if (budget < least) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("device {}: memory: {} are too few: {} of a CUDA device go to the driver's context and {} to "
                                  "the libraries' workspaces", o.name, to_string(budget), to_string(context),
                                  to_string(workspace_bytes())));
  }
  return budget;
}

}  // namespace

std::unique_ptr<device> make_cuda_device(const cuda_options& o) {
  make_deterministic(o.tf32);
  const auto gpu = look_at_gpu(o.index);
  install_cuda_router();
  const auto context = o.context.value_or(gpu.context);
  const auto budget = checked_budget(o, gpu, context);
  auto memory = make_memory(o, budget, context);
  const auto charged = memory->usage().budget;
  device_info info{.name = o.name,
                   .kind = "cuda",
                   .speed = 1.0,
                   .memory = charged,
                   .reserve = context + workspace_bytes() + fragmentation_room(charged),
                   .link = {},
                   .latency = {},
                   .torch_device = fmt::format("cuda:{}", o.index),
                   .numbers = o.numbers};
  return make_stream_device(std::move(info), make_cuda_driver(o.index), std::move(memory));
}

}  // namespace hydra
