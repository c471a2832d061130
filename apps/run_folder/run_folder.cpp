#include "apps/run_folder/run_folder.hpp"

#include "actors/cluster/keys.hpp"
#include "apps/run_folder/cluster_file.hpp"
#include "apps/run_folder/recorded_data.hpp"
#include "apps/workload/check_file.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// The nearest parent folder that exists.
fs::path existing_parent(const fs::path& folder) {
  fs::path p = fs::absolute(folder).lexically_normal();
  std::error_code ignored;
  while (!fs::exists(p, ignored) && p.has_relative_path()) p = p.parent_path();
  return p;
}

[[noreturn]] void refuse_existing(const place& where, const fs::path& folder) {
  refuse(where, "run.output",
         fmt::format("\"{}\" exists and is not overwritten: continue it by --resume, move it away, or choose another "
                     "by --output",
                     folder.string()));
}

}  // namespace

bool is_of_program(const fs::path& run) {
  return kind_of(run / "plan.json") == fs::file_type::regular &&
         kind_of(run / workload_file) == fs::file_type::not_found;
}

void check_output(const place& where, const fs::path& folder) {
  if (const std::string why = why_unknown(folder); !why.empty())
    refuse(where, "run.output", fmt::format("\"{}\": {}", folder.string(), why));
  if (fs::exists(fs::symlink_status(folder))) refuse_existing(where, folder);
  if (const std::string hint = home_hint(folder); !hint.empty() && !fs::exists(fs::symlink_status(*folder.begin())))
    refuse(where, "run.output", fmt::format("\"{}\"{}", folder.string(), hint));
  check_writable(where, existing_parent(folder));
}

void check_writable(const place& where, const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    refuse(where, "run.output", fmt::format("\"{}\" is not a folder", folder.string()));
  if (::eaccess(folder.c_str(), W_OK | X_OK) != 0)
    refuse(where, "run.output", fmt::format("the folder \"{}\" is not writable", folder.string()));
}

void make_run_folder(const place& where, const fs::path& folder) {
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error)
    refuse(where, "run.output", fmt::format("the folder \"{}\" cannot be made: {}", folder.string(), error.message()));
  if (!made) refuse_existing(where, folder);
}

void record_workload(const fs::path& run, const std::string& text) { write_atomically(run / workload_file, text); }

void remove_unused(const fs::path& folder) noexcept try {
  const auto is_of_begin = [&](const fs::directory_entry& e) {
    const fs::path name = e.path().filename();
    return name == workload_file || name == data_file || name == cluster_file_name || e.path() == keys_of_run(folder);
  };
  if (!std::ranges::all_of(fs::directory_iterator{folder}, is_of_begin)) return;
  fs::remove_all(folder);
} catch (...) {
  // the folder stays; --resume continues in it
}

}  // namespace hydra::apps
