#include "runtime/device/cuda/cuda_numerics.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/device/cuda/cuda_allocator.hpp"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/linear_ops.h>
#include <ATen/ops/zeros_ops.h>
#include <c10/core/DeviceType.h>
#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <typeinfo>

namespace hydra {

namespace {

/// Eight buffers of 4 MiB: with these cuBLAS always adds in the same order.
constexpr const char* fixed_workspaces = ":4096:8";

void set_library(bool tf32) {
  auto& context = at::globalContext();
  context.setDeterministicAlgorithms(true, /*warn_only=*/false);
  context.setDeterministicFillUninitializedMemory(false);  // otherwise every empty tensor is filled, on the CPU too
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
  context.setSDPUseCuDNN(false);  // its attention has no deterministic backward
  context.setAllowTF32CuBLAS(tf32);
  context.setAllowTF32CuDNN(tf32);
  context.setAllowFP16ReductionCuBLAS(false, /*allow_splitk=*/true);
  context.setAllowBF16ReductionCuBLAS(false, /*allow_splitk=*/true);
}

at::Tensor zeros(std::int64_t rows, std::int64_t columns, at::ScalarType type, const at::Device& where) {
  return at::_ops::zeros::call(c10::fromIntArrayRefSlow({rows, columns}), type, std::nullopt, where, std::nullopt);
}

}  // namespace

void set_environment() {
  setenv("CUBLAS_WORKSPACE_CONFIG", fixed_workspaces, 1);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);  // streams that share a connection block each other
}

void require_cuda_library() {
  if (at::isPrivateUse1HooksRegistered()) {
    throw fault_error(
        fault_code::bad_input,
        fmt::format("this process has the device type \"{}\" (PrivateUse1), which LibTorch takes for its only "
                    "accelerator: backward passes on CUDA fail beside it; use one of the two",
                    c10::get_privateuse1_backend()));
  }
  const at::CUDAHooksInterface& found = at::detail::getCUDAHooks();
  if (typeid(found) == typeid(at::CUDAHooksInterface)) {
    throw fault_error(fault_code::bad_input,
                      "LibTorch has run a backward pass without CUDA in this process and cannot load CUDA any more: "
                      "load the plug-in, or add a CUDA device, before anything is trained");
  }
}

void make_deterministic(bool tf32) {
  static const bool first = (set_library(tf32), tf32);
  if (first != tf32) {
    throw fault_error(fault_code::bad_input,
                      "device: tf32 must be the same on all CUDA devices: it is a setting of the library");
  }
}

byte_count workspace_bytes() {
  return byte_count{at::cuda::getChosenWorkspaceSize() + at::cuda::getCUDABlasLtWorkspaceSize()};
}

void warm_up(int gpu) {
  const at::NoGradGuard no_grad;
  const allocate_from own(library_pool());
  const at::Device where(at::kCUDA, static_cast<at::DeviceIndex>(gpu));
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    const auto weight = zeros(64, 64, type, where);
    at::_ops::linear::call(zeros(64, 64, type, where), weight, zeros(1, 64, type, where).select(0, 0));
  }
}

}  // namespace hydra
