#pragma once
// How much host memory a run may hope for, and what the process has taken.

#include "runtime/base/bytes.hpp"

namespace hydra {

/// Memory that can be had without swapping: what the kernel reports, or what the control groups' limits leave if
/// that is less. 0 if neither is known.
byte_count available_host_memory();

/// Most memory that this process has had resident so far: libraries, heap and all. 0 if the kernel does not say.
byte_count process_peak_memory();

}  // namespace hydra
