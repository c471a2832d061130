#pragma once
// What makes CUDA compute the same bits every time.

#include "runtime/base/bytes.hpp"

namespace hydra {

/// LibTorch looks for its CUDA library once, at the first backward pass of the process. Throws fault_error{bad_input} if that
/// was before the library was loaded; else it has looked now.
void require_cuda_library();

/// LibTorch's settings are the process's, not a device's: the first CUDA device sets them, before anything is computed.
/// Deterministic algorithms everywhere (what has none throws), fixed cuBLAS workspaces, no search among cuDNN's algorithms,
/// no reduced precision in sums, TF32 only if asked. Throws fault_error{bad_input} if another device asked otherwise.
void make_deterministic(bool tf32);

/// Of cuBLAS and cuBLASLt, for one thread's handle on one stream.
byte_count workspace_bytes();

/// Makes the calling thread's handles and workspaces, on its current stream, and loads the kernels that every model needs. Does
/// not wait for the GPU. LibTorch keeps workspaces as long as the process lives, so their bytes come from its own allocator.
void warm_up(int gpu);

}  // namespace hydra
