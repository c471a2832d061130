#include "runtime/plugin/own_plugins.hpp"

#include "runtime/base/fault.hpp"

#include <hydra/own_plugins.hpp>

#include <fmt/format.h>

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace hydra {

namespace {

namespace fs = std::filesystem;

/// ../lib/hydra, ../lib64/hydra, ...
std::vector<fs::path> folders_beside(const fs::path& program) {
  std::error_code error;
  std::vector<fs::path> all;
  const auto prefix = program.parent_path().parent_path();
  for (fs::directory_iterator at{prefix, error}, end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->path().filename().string().starts_with("lib") && fs::is_directory(at->path() / "hydra", ignored)) {
      all.push_back(at->path() / "hydra");
    }
  }
  std::ranges::sort(all);  // the order of directory entries is unspecified
  return all;
}

std::string quoted(const std::vector<fs::path>& folders) {
  std::vector<std::string> all;
  std::ranges::transform(folders, std::back_inserter(all), [](const fs::path& f) { return f.string(); });
  return fmt::format("\"{}\"", fmt::join(all, "\", \""));
}

/// Why there is no plug-in: what the build recorded, and where it was looked for.
std::string why_missing(const std::string& name, const std::vector<fs::path>& folders) {
  const std::string_view without_cuda = HYDRA_WITHOUT_CUDA;
  if (name == "cuda" && !without_cuda.empty()) {
    return fmt::format("this Hydra was built without CUDA: {}; build with -DHYDRA_CUDA=ON where a CUDA toolkit is",
                       without_cuda);
  }
  const std::string places =
      folders.empty() ? "there is no folder lib/hydra next to the program" : "looked in " + quoted(folders);
  return fmt::format("Hydra's plug-in libhydra_{}.so is not where it should be ({}); install Hydra again", name,
                     places);
}

}  // namespace

std::vector<fs::path> loader_folders() {
  void* const program = dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo size;
  if (program == nullptr || dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0) {
    return {};
  }
  std::vector<std::max_align_t> room(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* const all = reinterpret_cast<Dl_serinfo*>(room.data());
  *all = size;
  if (dlinfo(program, RTLD_DI_SERINFO, all) != 0) {
    return {};
  }
  std::vector<fs::path> folders;
  for (const auto* at = all->dls_serpath; folders.size() < all->dls_cnt; ++at) {
    folders.emplace_back(at->dls_name);
  }
  return folders;
}

std::vector<fs::path> own_plugin_folders(const fs::path& program, const std::vector<fs::path>& searched) {
  std::error_code ignored;
  auto all = folders_beside(fs::weakly_canonical(program, ignored));
  std::ranges::copy_if(searched, std::back_inserter(all), [&](const fs::path& folder) {
    return folder.filename() == "hydra" && fs::is_directory(folder, ignored) && std::ranges::count(all, folder) == 0;
  });
  return all;
}

fs::path find_own_plugin(const std::string& name, const std::vector<fs::path>& folders) {
  const std::string file = "libhydra_" + name + ".so";
  for (const auto& folder : folders) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / file, ignored)) {
      return folder / file;
    }
  }
  throw fault_error(fault_code::bad_input, why_missing(name, folders));
}

const std::vector<std::string>& own_plugin_names() {
  static const std::vector<std::string> names{"cuda"};
  return names;
}

}  // namespace hydra
