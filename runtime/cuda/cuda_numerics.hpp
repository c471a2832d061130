#pragma once
// What makes CUDA compute the same bits every time.

#include "runtime/bytes.hpp"

namespace hydra {

/// LibTorch's settings are the process's, not a device's: the first CUDA device sets them, before anything is computed.
/// Deterministic algorithms everywhere (what has none throws), fixed cuBLAS workspaces, no search among cuDNN's algorithms,
/// no reduced precision in sums, TF32 only if asked. Throws fault_error{bad_input} if another device asked otherwise.
void make_deterministic(bool tf32);

/// Of cuBLAS and cuBLASLt, for one thread's handle on one stream.
byte_count workspace_bytes();

/// Makes the calling thread's handles and workspaces and loads the kernels that every model needs, on its current stream,
/// from its current pool. Does not wait for the GPU.
void warm_up(int gpu);

}  // namespace hydra
