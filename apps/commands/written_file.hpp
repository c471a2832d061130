#pragma once
// Checks a file that a command is about to write.

#include <filesystem>
#include <string_view>

namespace hydra::apps {

/// Files that may be overwritten: what they are called, and the first line that identifies them.
struct replaceable_files {
  std::string_view name;        ///< empty: none may be overwritten
  std::string_view first_line;
};

/// No other existing file is overwritten. Throws fault_error{bad_input} that names the option: no file name, no such
/// folder, not writable, a name that is too long, the file exists.
void check_written_file(std::string_view option, const std::filesystem::path& file, const replaceable_files& but = {});

}  // namespace hydra::apps
