// The plug-in table of libhydra_cuda.so.

#include "runtime/device/cuda/cuda_check.hpp"
#include "runtime/device/cuda/cuda_device.hpp"
#include "runtime/device/cuda/cuda_numerics.hpp"
#include "runtime/device/cuda/gpu.hpp"
#include "runtime/plugin/plugin_abi.hpp"
#include "runtime/plugin/plugin_table.hpp"

#include <ATen/detail/CUDAHooksInterface.h>

#include <exception>

namespace {

void* make(const void* request) try {
  return hydra::make_cuda_device(hydra::read_cuda_options(*static_cast<const hydra::device_request*>(request)))
      .release();
} catch (...) {
  throw hydra::fault_error(hydra::cuda_fault(std::current_exception()));
}

std::vector<std::string> find() try {
  hydra::require_cuda_library();
  return hydra::describe_gpus();
} catch (...) {
  throw hydra::fault_error(hydra::cuda_fault(std::current_exception()));
}

}  // namespace

extern "C" const hydra_plugin* hydra_plugin_v1() {
  using namespace hydra;
  [[maybe_unused]] static const bool once = (set_environment(), true);
  // load it now: a backward pass before the first device is created would make LibTorch run without CUDA for good
  static_cast<void>(at::detail::getCUDAHooks());
  static const hydra_plugin table{
      plugin_abi,
      {{.kind = plugin_kind::device,
        .name = "cuda",
        .help = "an NVIDIA GPU, or a part of one",
        .make = make,
        .about = std::make_shared<const device_about>(device_about{cuda_option_list(), find})}}};
  return &table;
}
