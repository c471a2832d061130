#pragma once
// Host memory that is available to a run, and what the process has used.

#include "runtime/base/bytes.hpp"

namespace hydra {

/// Memory that is available without swapping: what the kernel reports, or what the control groups' limits leave if that
/// is less. 0 if neither is known.
byte_count available_host_memory();

/// Peak resident memory of this process so far: libraries, heap and all. 0 if the kernel does not report it.
byte_count process_peak_memory();

}  // namespace hydra
