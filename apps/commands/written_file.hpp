#pragma once
// A file that a command is told to write.

#include <filesystem>
#include <string_view>

namespace hydra::apps {

/// Nothing that is there is overwritten, unless the first line of the file is `replaceable` (not empty). Throws
/// fault_error{bad_input} that names the option: no file name, no such folder, not writable, the file exists.
void check_written_file(std::string_view option, const std::filesystem::path& file, std::string_view replaceable = {});

}  // namespace hydra::apps
