#pragma once
// NVIDIA's management library, if installed: it reports a GPU's memory without creating a context.

#include "runtime/base/bytes.hpp"

#include <optional>
#include <string>

namespace hydra {

/// The GPU memory in use by all processes together. `bus`: "0000:01:00.0". Empty if the library is not available.
std::optional<byte_count> gpu_memory_in_use(const std::string& bus) noexcept;

}  // namespace hydra
