#pragma once
// A whole file as text.

#include <cstdint>
#include <filesystem>
#include <string>

namespace hydra {

/// Larger than any configuration, vocabulary or report; larger files are not read into memory.
inline constexpr std::uint64_t largest_text = std::uint64_t{1} << 30;

/// The content of a regular file (reading a pipe might never end). Throws "FILE: why" as fault_error{bad_input} if it
/// does not exist, is not a regular file, or has more than largest_text bytes; as {io} with the system's reason if it
/// cannot be read.
std::string read_text(const std::filesystem::path& file);

}  // namespace hydra
