#pragma once
// A whole file as text.

#include <cstdint>
#include <filesystem>
#include <string>

namespace hydra {

/// Larger than any configuration, vocabulary or report; larger files are not read into memory.
inline constexpr std::uint64_t largest_text = std::uint64_t{1} << 30;

/// The content of a regular file (reading a pipe might never end). Throws "FILE: why": fault_error{bad_input} if it
/// cannot be opened, is not a regular file, has more than largest_text bytes, or is a pointer of Git LFS; {io} if reading
/// fails.
std::string read_text(const std::filesystem::path& file);

}  // namespace hydra
