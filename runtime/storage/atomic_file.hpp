#pragma once
// Files that appear complete or not at all.

#include <filesystem>
#include <functional>
#include <iosfwd>

namespace hydra {

/// Calls `content` with a stream to a temporary file beside `file`, then renames it, so that a reader (or a crash)
/// never sees half of it. Throws fault_error{io} naming the file; the old file then stays and the temporary is gone.
/// On return it survives the death of the machine, too.
void write_atomically(const std::filesystem::path& file, const std::function<void(std::ostream&)>& content);

}  // namespace hydra
