#pragma once
// How much host memory a run may hope for.

#include "runtime/bytes.hpp"

namespace hydra {

/// Memory that can be had without swapping: what the kernel reports, or what is left of the control group's limit if
/// that is less. 0 if neither is known.
byte_count available_host_memory();

}  // namespace hydra
