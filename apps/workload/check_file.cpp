#include "apps/workload/check_file.hpp"

#include "runtime/base/path_kind.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// The usual reason for a missing file: its path was meant relative to the workload file.
std::string hint(const place& where, const fs::path& path) {
  if (!where.source || !path.is_relative()) return "";
  const fs::path beside = fs::path{*where.source}.parent_path() / path;
  std::error_code ignored;
  return fs::exists(beside, ignored) ? fmt::format("; there is \"{}\"", beside.string()) : "";
}

std::string missing(const place& where, const fs::path& path, const char* what = "file") {
  if (const std::string why = why_unknown(path); !why.empty())
    return fmt::format("the {} \"{}\" cannot be read: {}", what, shown(path.string()), why);
  std::error_code ignored;
  const std::string looked =
      path.is_relative()
          ? fmt::format(" in {}, the working directory, where relative paths start", fs::current_path(ignored).string())
          : "";
  return fmt::format("no such {} \"{}\"{}{}{}", what, shown(path.string()), looked, hint(where, path), home_hint(path));
}

}  // namespace

std::string hub_hint(const fs::path& missing) {
  const fs::path owner = missing.parent_path();
  std::error_code ignored;
  const bool is_path = owner.empty() || owner.has_parent_path() || owner == "." || owner == ".." || owner == "runs" ||
                       owner.string().starts_with('~');
  if (is_path || fs::exists(owner, ignored)) return "";
  return fmt::format("; a model of the Hugging Face Hub is downloaded first: hf download {0} --local-dir {1}",
                     shown(missing.string()), shown(missing.filename().string()));
}

std::string home_hint(const fs::path& path) {
  const std::string text = path.string();
  if (!text.starts_with('~') || text.find('/') == std::string::npos) return "";
  const char* const home = text.starts_with("~/") ? std::getenv("HOME") : nullptr;
  const std::string full = home ? fmt::format("\"{}\"", shown(home + text.substr(1))) : "the full path";
  return fmt::format("; \"~\" is not expanded here: write {}", full);
}

void check_file(const place& where, std::string_view key, const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) refuse(where, key, missing(where, path));
  const auto size = located(where, key, [&] { return regular_file{path}.size(); });
  if (size == 0) refuse(where, key, fmt::format("the file \"{}\" is empty", shown(path)));
}

void check_folder(const place& where, std::string_view key, const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (!fs::exists(status)) refuse(where, key, missing(where, path, "folder") + hub_hint(path));
  if (!fs::is_directory(status)) refuse(where, key, fmt::format("\"{}\" is a file, a folder is expected", shown(path)));
}

void check_path(const place& where, std::string_view key, const std::string& path, const std::string& if_missing) {
  std::error_code ignored;
  if (!if_missing.empty() && !fs::exists(path, ignored)) refuse(where, key, missing(where, path) + if_missing);
  if (!fs::is_directory(path, ignored)) check_file(where, key, path);
}

}  // namespace hydra::apps
