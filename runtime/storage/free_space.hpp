#pragma once
// Room in a file system.

#include "runtime/base/bytes.hpp"

#include <filesystem>
#include <optional>

namespace hydra {

/// What a user may still write where `folder` is or will be made; none where the system does not say. Others may write
/// there, too, and a quota may be smaller.
std::optional<byte_count> free_space(const std::filesystem::path& folder);

}  // namespace hydra
