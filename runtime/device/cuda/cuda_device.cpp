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

/// What the parts of pages that are in use cannot give (page_arena; hydra bench fragmentation measures it).
byte_count fragmentation_room(byte_count memory) { return byte_count{memory.value() / 32}; }

/// `beside`: what of the budget is not for tensors.
std::shared_ptr<launch_memory> make_memory(const cuda_options& o, byte_count budget, byte_count beside) {
  if (o.use == device_use::measure) {
    return make_library_memory(budget, beside);
  }
  if (o.pool == pool_kind::expandable) {
    return make_expandable_memory(budget, beside);
  }
  return std::make_shared<arena_memory>(make_gpu_pages(o.index, budget - beside), beside);
}

/// A device is made for the plan and again for its run: what the first one was given holds for the second, though something
/// else may have taken or left a little of the GPU meanwhile; and for those that measure beside it, whatever is free then.
byte_count budget_of(const cuda_options& o, const gpu_facts& gpu) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, int>, byte_count> given;
  const auto available = gpu.free + gpu.context;  // the budget counts the context, which is taken already
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
  const bool too_few = budget < beside + 32_MiB;
  if (too_few && o.use == device_use::measure) {
    throw fault_error(fault_code::out_of_memory,
                      fmt::format("device {}: {} of GPU {} are free; too few to measure anything", o.name,
                                  to_string(gpu.free), o.index));
  }
  if (too_few) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("device {}: memory: {} are too few: of a CUDA device, {} go to the driver's context and the "
                                  "libraries' workspaces", o.name, to_string(budget), to_string(beside)));
  }
  return budget;
}

}  // namespace

std::unique_ptr<device> make_cuda_device(const cuda_options& o) {
  require_cuda_library();
  make_deterministic(o.tf32);
  install_cuda_router();
  if (o.use == device_use::run) {
    empty_library_cache();  // what a pilot before this one has left there
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
