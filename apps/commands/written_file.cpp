#include "apps/commands/written_file.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/regular_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

bool begins_with(const fs::path& file, std::string_view first_line) {
  std::string start(first_line.size() + 1, '\0');
  start.resize(regular_file{file}.read(start, 0));
  return start.substr(0, start.find('\n')) == first_line;
}

}  // namespace

void check_written_file(std::string_view option, const fs::path& file, const replaceable_files& but) {
  const auto refuse = [&](const std::string& what) {
    throw fault_error{fault_code::bad_input, fmt::format("{} {}: {}", option, file.string(), what)};
  };
  if (file.empty())
    throw fault_error{fault_code::bad_input, fmt::format("{} is empty: the name of a file is expected", option)};
  if (kind_of(file, option) == fs::file_type::directory) refuse("the name of a file is expected");
  const fs::path folder = fs::absolute(file).parent_path();
  if (kind_of(folder, option) != fs::file_type::directory)
    refuse(fmt::format("there is no folder \"{}\"", folder.string()));
  if (::eaccess(folder.c_str(), W_OK | X_OK) != 0)
    refuse(fmt::format("the folder \"{}\" is not writable", folder.string()));
  if (!fs::exists(fs::symlink_status(file))) return;
  if (but.name.empty()) refuse("exists and is not overwritten: choose another name");
  if (!begins_with(file, but.first_line))
    refuse(fmt::format("exists, is not {} and is not overwritten: choose another name", but.name));
}

}  // namespace hydra::apps
