#include "apps/commands/report.hpp"

#include "apps/report/page.hpp"
#include "runtime/atomic_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_line_of_pages = "<!DOCTYPE html>";

struct report_options {
  std::string run;
  std::optional<std::string> html;
};

[[noreturn]] void refuse_page(const fs::path& file, const std::string& what) {
  throw fault_error{fault_code::bad_input, fmt::format("--html {}: {}", file.string(), what)};
}

bool is_page(const fs::path& file) {
  std::string line;
  std::getline(std::ifstream{file}, line);
  return line == first_line_of_pages;
}

/// A page may be made again; nothing else is overwritten.
void check_page_file(const fs::path& file) {
  std::error_code ignored;
  const fs::path folder = fs::absolute(file).parent_path();
  if (file.empty() || fs::is_directory(file, ignored)) refuse_page(file, "the name of a file is expected");
  if (!fs::is_directory(folder, ignored)) refuse_page(file, fmt::format("there is no folder \"{}\"", folder.string()));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    refuse_page(file, fmt::format("the folder \"{}\" is not writable", folder.string()));
  if (fs::exists(fs::symlink_status(file, ignored)) && !is_page(file))
    refuse_page(file, "exists, is no HTML page and is not overwritten: choose another name");
}

/// A run whose trace was removed still has a report.
timeline read_timeline_of(const recorded_run& run, const fs::path& folder) {
  const fs::path file = folder / "trace.json";
  std::ifstream in{file};
  if (!in) return {};
  std::vector<std::string> devices, models;
  std::ranges::transform(run.summary.devices, std::back_inserter(devices), &device_report::name);
  std::ranges::transform(run.summary.models, std::back_inserter(models), &model_report::name);
  return read_timeline(in, file.string(), devices, models);
}

int show(const report_options& o) {
  if (o.html) check_page_file(*o.html);
  const recorded_run run = read_report(o.run);
  if (o.html) {
    const std::string page = to_page(run, read_timeline_of(run, o.run));
    write_atomically(*o.html, [&](std::ostream& out) { out << page; });
  }
  fmt::print("{}", to_table(run.summary));
  return 0;
}

}  // namespace

command_action declare_report(CLI::App& app) {
  auto o = std::make_shared<report_options>();
  app.add_option("run", o->run, "run folder, such as runs/quickstart")->required();
  app.add_option("--html", o->html, "also write one self-contained page with loss curves and the devices' time-line");
  return [o] { return show(*o); };
}

}  // namespace hydra::apps
