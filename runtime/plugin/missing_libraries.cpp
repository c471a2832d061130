#include "runtime/plugin/missing_libraries.hpp"

#include "runtime/plugin/shared_object.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>

namespace hydra {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders_of_environment() {
  const char* text = std::getenv("LD_LIBRARY_PATH");
  std::istringstream in{text == nullptr ? "" : text};
  std::vector<fs::path> all;
  for (std::string folder; std::getline(in, folder, ':');) {
    all.emplace_back(folder);
  }
  return all;
}

std::optional<fs::path> find_in(const std::vector<fs::path>& folders, const std::string& name) {
  std::error_code ignored;
  for (const auto& folder : folders) {
    if (fs::exists(folder / name, ignored)) {
      return folder / name;
    }
  }
  return std::nullopt;
}

/// Empty: the library is found. Otherwise its own name, or the first library it needs that is missing.
std::string missing_for(const std::string& name) {
  if (void* handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
    dlclose(handle);
    return {};
  }
  const char* why = dlerror();
  const std::string text = why == nullptr ? "" : why;
  const auto end = text.find(": cannot open shared object file");
  return end == std::string::npos ? std::string{} : text.substr(0, end);
}

bool is_loaded(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) {
    dlclose(handle);
  }
  return handle != nullptr;
}

/// Searches libraries as the loader does, but does not stop at the first that is missing.
class library_walk {
 public:
  /// `inherited`: run paths of the libraries that need it.
  void follow(const fs::path& file, std::vector<fs::path> inherited) {
    const auto object = read_shared_object(file);
    if (!object) {
      return;
    }
    auto folders = object->run_path;
    folders.insert(folders.end(), inherited.begin(), inherited.end());
    const auto& passed_on = object->passes_run_path_on ? folders : inherited;
    for (const auto& name : object->needed) {
      if (seen_.insert(name).second && !is_loaded(name)) {
        look_for(name, folders, passed_on);
      }
    }
  }

  std::vector<std::string> missing;

 private:
  void look_for(const std::string& name, const std::vector<fs::path>& folders, const std::vector<fs::path>& passed_on) {
    auto file = find_in(folders, name);
    if (!file) {
      file = find_in(environment_, name);
    }
    if (file) {
      return follow(*file, passed_on);
    }
    const auto first = missing_for(name);
    if (!first.empty() && (first == name || seen_.insert(first).second)) {
      missing.push_back(first);
    }
  }

  const std::vector<fs::path> environment_ = folders_of_environment();
  std::set<std::string> seen_;
};

}  // namespace

std::vector<std::string> missing_libraries(const fs::path& file) {
  library_walk walk;
  walk.follow(file, {});
  return walk.missing;
}

}  // namespace hydra
