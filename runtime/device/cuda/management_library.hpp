#pragma once
// NVIDIA's management library, where it is there: it sees a GPU's memory without making a context on it.

#include "runtime/base/bytes.hpp"

#include <optional>
#include <string>

namespace hydra {

/// What all processes together use of the GPU's memory. `bus`: "0000:01:00.0". Nothing if nobody can tell.
std::optional<byte_count> gpu_memory_in_use(const std::string& bus) noexcept;

}  // namespace hydra
