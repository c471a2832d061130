#pragma once
// Pages of a GPU's memory behind a range of addresses.

#include "runtime/device/streams/page_source.hpp"

#include <memory>

namespace hydra {

/// All of `size` (rounded down to pages) is taken now. Throws fault_error{out_of_memory} if the GPU has not so much, {bad_input}
/// if its driver has no virtual memory.
std::unique_ptr<page_source> make_gpu_pages(int gpu, byte_count size);

}  // namespace hydra
