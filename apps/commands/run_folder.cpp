#include "apps/commands/run_folder.hpp"

#include "runtime/atomic_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <ostream>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// The nearest folder above that is there.
fs::path existing_parent(const fs::path& folder) {
  fs::path p = fs::absolute(folder).lexically_normal();
  std::error_code ignored;
  while (!fs::exists(p, ignored) && p.has_relative_path()) p = p.parent_path();
  return p;
}

}  // namespace

void check_output(const place& where, const fs::path& folder) {
  std::error_code ignored;
  const auto refuse_output = [&](const std::string& what) { refuse(where, "run.output", what); };
  if (fs::exists(fs::symlink_status(folder, ignored)))
    refuse_output(fmt::format("\"{}\" exists and is not overwritten: move it away, or choose another by --output",
                              folder.string()));
  const fs::path parent = existing_parent(folder);
  if (!fs::is_directory(parent, ignored)) refuse_output(fmt::format("\"{}\" is no folder", parent.string()));
  if (::access(parent.c_str(), W_OK | X_OK) != 0)
    refuse_output(fmt::format("the folder \"{}\" is not writable", parent.string()));
}

void make_run_folder(const place& where, const fs::path& folder, const std::string& text) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    refuse(where, "run.output", fmt::format("the folder \"{}\" cannot be made: {}", folder.string(), error.message()));
  write_atomically(folder / "workload.toml", [&](std::ostream& out) { out << text; });
}

}  // namespace hydra::apps
