#include "apps/commands/report.hpp"

#include "apps/commands/written_file.hpp"
#include "apps/report/page.hpp"
#include "runtime/atomic_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <iterator>
#include <memory>
#include <optional>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

constexpr replaceable_files pages{"HTML page", "<!DOCTYPE html>"};

struct report_options {
  std::string run;
  std::optional<std::string> html;
};

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
  if (o.html) check_written_file("--html", *o.html, pages);
  const recorded_run run = read_report(o.run);
  if (o.html) {
    const std::string page = to_page(run, read_timeline_of(run, o.run));
    write_atomically(*o.html, [&](std::ostream& out) { out << page; });
  }
  fmt::print("{}", to_table(run.summary));
  return 0;
}

}  // namespace

command_action declare_report(command_line& line) {
  auto o = std::make_shared<report_options>();
  line.add_option("run", o->run, "run folder, such as runs/quickstart").required();
  line.add_option("--html", o->html, "also write one self-contained page with loss curves and the devices' time-line");
  return [o] { return show(*o); };
}

}  // namespace hydra::apps
