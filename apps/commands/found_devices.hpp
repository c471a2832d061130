#pragma once
// The devices of this machine, for a workload that has none yet.

#include <string>

namespace hydra::apps {

/// A [[device]] table with comments for each GPU that can be used; else one for the processor, with a quarter of the
/// host memory that is available.
std::string found_devices();

}  // namespace hydra::apps
