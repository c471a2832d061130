#pragma once
// A GPU, or a part of one, as a device of a run.

#include "runtime/device/cuda/cuda_options.hpp"
#include "runtime/device/device.hpp"

#include <memory>

namespace hydra {

/// Allocates its memory now: all of the budget except the context. Several devices on one GPU share its processors and
/// its link. Throws fault_error{bad_input} for options that the GPU cannot meet, {out_of_memory} if its memory is in
/// use.
std::unique_ptr<device> make_cuda_device(const cuda_options& options);

}  // namespace hydra
