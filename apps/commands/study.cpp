#include "apps/commands/commands.hpp"

#include "apps/simulate/study_output.hpp"
#include "apps/simulate/study_page.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/tell_line.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

struct study_options {
  std::string file;
  std::optional<std::string> output;
  bool quiet = false;
};

[[noreturn]] void refuse_output(const fs::path& folder, const std::string& why) {
  throw fault_error{fault_code::bad_input, fmt::format("--output {}: {}", folder.string(), why)};
}

void check_output(const fs::path& folder) {
  std::error_code ignored;
  const bool empty = fs::is_directory(folder, ignored) && fs::is_empty(folder, ignored);  // of a stopped study
  if (fs::exists(fs::symlink_status(folder, ignored)) && !empty)
    refuse_output(folder, "exists and is not overwritten: choose another name");
}

void make_output(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse_output(folder, fmt::format("the folder cannot be made: {}", error.message()));
  if (::eaccess(folder.c_str(), W_OK | X_OK) != 0) refuse_output(folder, "the folder is not writable");
}

/// Writes all files or none: leftover files would make the same command fail.
void write_results(const fs::path& folder, const study_result& s) try {
  write_atomically(folder / "study.csv", to_csv(s));
  write_atomically(folder / "study.json", to_json(s));
  write_atomically(folder / "study.html", to_page(s));
} catch (...) {
  std::error_code ignored;
  for (const char* file : {"study.csv", "study.json", "study.html"}) fs::remove(folder / file, ignored);
  throw;
}

int run(const study_options& o) {
  const study s = read_study(o.file);
  const fs::path folder = o.output ? fs::path{*o.output} : fs::path{"studies"} / fs::path{o.file}.stem();
  check_output(folder);
  make_output(folder);  // a study may take hours: refused before it starts
  const study_result result = run_study(s, [&](const std::string& line) {
    if (!o.quiet) tell_line(line);
  });
  write_results(folder, result);
  fmt::print("{}", printable(to_table(result)));
  if (!o.quiet) tell_line("written: study.csv, study.json and study.html in " + folder.string());
  return 0;
}

}  // namespace

command_action declare_study(command_line& line) {
  auto o = std::make_shared<study_options>();
  line.add_option("study", o->file, "study file (TOML), such as apps/studies/scheduling.toml").required();
  line.add_option("--output", o->output,
                 "folder for CSV, JSON and HTML, must not exist (default: studies/<file's name>)");
  line.add_flag("--quiet", o->quiet, "no progress on stderr");
  return [o] { return run(*o); };
}

}  // namespace hydra::apps
