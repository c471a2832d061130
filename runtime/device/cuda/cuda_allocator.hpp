#pragma once
// Sends every CUDA tensor of the process to the pool that its thread allocates from.

#include "runtime/device/cpu/tensor_pool.hpp"

#include <cstddef>
#include <memory>

namespace hydra {

/// Puts Hydra's router in the place of LibTorch's CUDA allocator, once; before the first CUDA tensor of the process. Threads
/// that no pool was given to are served by LibTorch's own allocator. Throws fault_error{internal} if it is too late.
void install_cuda_router();

/// Gives back what LibTorch's own allocator keeps without using it.
void empty_library_cache();

/// LibTorch's own allocator, behind the router.
std::shared_ptr<tensor_pool> library_pool();

}  // namespace hydra
