#include "runtime/base/path_kind.hpp"

#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra {

namespace fs = std::filesystem;

fault_code code_of(const std::error_code& why) noexcept {
  for (const std::errc nowhere :
       {std::errc::no_such_file_or_directory, std::errc::not_a_directory, std::errc::is_a_directory,
        std::errc::too_many_symbolic_link_levels, std::errc::filename_too_long})
    if (why == nowhere) return fault_code::bad_input;
  return fault_code::io;
}

std::string why_unknown(const fs::path& path) {
  std::error_code error;
  return fs::status(path, error).type() == fs::file_type::none ? error.message() : "";
}

fs::file_type kind_of(const fs::path& path, std::string_view option) {
  std::error_code error;
  const fs::file_type kind = fs::status(path, error).type();
  if (kind == fs::file_type::none)
    refuse(fmt::format("{}{}{}: {}", option, option.empty() ? "" : " ", shown(path.string()), error.message()));
  return kind;
}

fs::path without_end(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

bool leads_back(const fs::directory_entry& entry) noexcept try {
  if (!entry.is_symlink() || !entry.is_directory()) return false;
  const fs::path from = fs::absolute(entry.path()), to = fs::canonical(from);
  // Each folder on the way, not only the last one: links of two folders to each other lead back, too.
  for (fs::path folder = from.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    if (std::ranges::mismatch(to, fs::canonical(folder)).in1 == to.end()) return true;
  return to == to.root_path();
} catch (const fs::filesystem_error&) {
  return false;
}

}  // namespace hydra
