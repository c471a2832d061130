#pragma once
// Settings that make CUDA compute the same bits every time.

#include "runtime/base/bytes.hpp"

namespace hydra {

/// What CUDA's libraries read from the environment. To be called when the plug-in is loaded, before other threads may
/// read it and before a context is created.
void set_environment();

/// LibTorch looks for its CUDA library once, at the first backward pass of the process. Throws fault_error{bad_input}
/// if that was before the library was loaded, or if another accelerator is registered; otherwise makes LibTorch look
/// now.
void require_cuda_library();

/// LibTorch's settings belong to the process, not to a device: the first CUDA device sets them, before anything is
/// computed. Deterministic algorithms everywhere (operations without one throw), fixed cuBLAS workspaces, no search
/// among cuDNN's algorithms, no reduced precision in sums, TF32 only if requested. Throws fault_error{bad_input} if
/// another device requested another value.
void make_deterministic(bool tf32);

/// Workspaces of cuBLAS and cuBLASLt for one thread's handle on one stream.
byte_count workspace_bytes();

/// Creates the calling thread's handles and workspaces on its current stream, and loads the kernels that every model
/// needs. Does not wait for the GPU. LibTorch keeps workspaces as long as the process runs, so their bytes come from
/// its own allocator.
void warm_up(int gpu);

}  // namespace hydra
