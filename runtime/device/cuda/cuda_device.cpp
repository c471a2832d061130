#include "runtime/device/cuda/cuda_device.hpp"

#include "runtime/device/cuda/cuda_allocator.hpp"
#include "runtime/device/cuda/cuda_driver.hpp"
#include "runtime/device/cuda/cuda_numerics.hpp"
#include "runtime/device/cuda/gpu.hpp"
#include "runtime/device/cuda/gpu_pages.hpp"
#include "runtime/device/cuda/library_memory.hpp"
#include "runtime/device/streams/arena_memory.hpp"
#include "runtime/device/streams/stream_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace hydra {

namespace {

/// Bytes that are lost in partly used pages (page_arena; a hundredth of the memory in measured runs).
byte_count fragmentation_room(byte_count memory) { return byte_count{memory.value() / 32}; }

/// `beside`: bytes of the budget that are not available to tensors.
std::shared_ptr<launch_memory> make_memory(const cuda_options& o, byte_count budget, byte_count beside) {
  if (o.use == device_use::measure) {
    return make_library_memory(budget, beside);
  }
  if (o.pool == pool_kind::expandable) {
    return make_expandable_memory(budget, beside);
  }
  return std::make_shared<arena_memory>(make_gpu_pages(o.index, budget - beside), beside);
}

/// A device is created for the plan and again for the run. The second one gets the budget of the first, even if the
/// GPU's free memory has changed a little in between. A device that measures during a run gets what is free at that
/// time.
byte_count budget_of(const cuda_options& o, const gpu_facts& gpu) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, int>, byte_count> given;
  const auto available = gpu.free + gpu.context;  // the budget includes the context, which is allocated already
  if (o.use == device_use::measure) {
    return available - std::min(available, gpu.growth);
  }
  if (!o.memory.empty()) {
    return memory_budget(o.name, o.memory, available, gpu.total);
  }
  const std::lock_guard lock{mutex};
  const auto known = given.find({o.name, o.index});
  if (known != given.end() && known->second <= available) {
    return known->second;
  }
  return given.insert_or_assign({o.name, o.index}, memory_budget(o.name, o.memory, available, gpu.total)).first->second;
}

byte_count checked_budget(const cuda_options& o, const gpu_facts& gpu, byte_count beside) {
  using namespace literals;
  const auto budget = budget_of(o, gpu);
  const auto least = beside + 32_MiB;
  const bool too_few = budget < least;
  if (too_few && o.use == device_use::measure) {
    throw fault_error(fault_code::out_of_memory,
                      fmt::format("device {}: {} of GPU {} are free, too little to measure anything", o.name,
                                  to_string(gpu.free), o.index));
  }
  if (too_few) {
    throw fault_error(
        fault_code::bad_input,
        fmt::format("device {}: memory: {} is too little: a CUDA device needs at least {}, of which {} are for "
                    "the driver's context and the libraries' workspaces",
                    o.name, to_string(budget), to_string(least), to_string(beside)));
  }
  return budget;
}

}  // namespace

std::unique_ptr<device> make_cuda_device(const cuda_options& o) {
  require_cuda_library();
  make_deterministic(o.tf32);
  install_cuda_router();
  if (o.use == device_use::run) {
    empty_library_cache();  // cached by a pilot before this one
  }
  const auto gpu = look_at_gpu(o.index);
  const auto beside = o.context.value_or(gpu.context) + workspace_bytes();
  auto memory = make_memory(o, checked_budget(o, gpu, beside), beside);
  const auto charged = memory->usage().budget;
  device_info info{.name = o.name,
                   .kind = "cuda",
                   .model = gpu.name + (o.tf32 ? ", tf32" : ""),
                   .speed = 1.0,
                   .memory = charged,
                   .reserve = beside + fragmentation_room(charged),
                   .link = {},
                   .latency = {},
                   .torch_device = fmt::format("cuda:{}", o.index),
                   .numbers = o.numbers,
                   .gradients = o.gradients};
  return make_stream_device(std::move(info), make_cuda_driver(o.index, o.use), std::move(memory));
}

}  // namespace hydra
