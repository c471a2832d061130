#pragma once
// What Git LFS leaves in a clone in the place of a large file that it has not fetched:
// https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md. Standard library only.

#include "runtime/base/refuse.hpp"

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace hydra {

/// Bytes; longer files are none.
inline constexpr std::uint64_t longest_lfs_pointer = 1023;

/// Throws fault_error{bad_input} with the file and what to do if its whole content is a pointer.
inline void refuse_lfs_pointer(const std::filesystem::path& file, std::string_view content) {
  if (content.size() <= longest_lfs_pointer && content.starts_with("version https://git-lfs.github.com/spec/"))
    refuse(file, std::string_view{
                     "is a pointer of Git LFS, not the file itself: get the file by git lfs pull in its folder"});
}

}  // namespace hydra
