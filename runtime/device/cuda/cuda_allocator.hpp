#pragma once
// Routes every CUDA tensor of the process to the pool of its thread.

#include "runtime/device/cpu/tensor_pool.hpp"

#include <cstddef>
#include <memory>

namespace hydra {

/// Replaces LibTorch's CUDA allocator by Hydra's router, once; before the first CUDA tensor of the process. Threads
/// without a pool use LibTorch's own allocator. Throws fault_error{internal} if it is too late.
void install_cuda_router();

/// Frees the unused memory that LibTorch's own allocator has cached.
void empty_library_cache();

/// LibTorch's own allocator, behind the router.
std::shared_ptr<tensor_pool> library_pool();

}  // namespace hydra
