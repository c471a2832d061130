#pragma once
// Pages of a GPU's memory and the range of addresses they are mapped to.

#include "runtime/device/streams/page_source.hpp"

#include <memory>

namespace hydra {

/// Allocates all of `size` (rounded down to pages) now. Throws fault_error{out_of_memory} if the GPU has less,
/// {bad_input} if its driver has no virtual memory.
std::unique_ptr<page_source> make_gpu_pages(int gpu, byte_count size);

}  // namespace hydra
