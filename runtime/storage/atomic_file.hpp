#pragma once
// Files that appear complete or not at all.

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string_view>

namespace hydra {

/// Calls `content` with a stream to a temporary file next to `file`, then renames it, so that neither a reader nor a
/// crash leaves half a file. Throws fault_error{io} naming the file; then the old file is kept and the temporary file
/// removed. On return the new file survives a crash of the machine, too.
void write_atomically(const std::filesystem::path& file, const std::function<void(std::ostream&)>& content);
void write_atomically(const std::filesystem::path& file, std::string_view content);

}  // namespace hydra
