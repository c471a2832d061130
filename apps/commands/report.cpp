#include "apps/commands/commands.hpp"

#include "actors/report/expense_table.hpp"
#include "actors/report/number_text.hpp"
#include "actors/report/report_table.hpp"
#include "actors/report/search_table.hpp"
#include "actors/report/text_table.hpp"
#include "apps/commands/end_of_run.hpp"
#include "apps/commands/notes.hpp"
#include "apps/commands/written_file.hpp"
#include "apps/report/page.hpp"
#include "apps/report/result.hpp"
#include "apps/run_folder/metrics_record.hpp"
#include "apps/run_folder/run_context.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/tell_line.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

constexpr replaceable_files pages{"an HTML page", "<!DOCTYPE html>"};

struct report_options {
  std::string run;
  std::optional<std::string> html;
  bool details = false;
};

std::string last_validation(const model_report& m) {
  if (m.validation.empty()) return "-";
  return fmt::format("{} ({})", number_text(m.validation.back().loss, 4), m.validation.back().step);
}

/// Of models that are not trials; empty if all are.
std::string models_so_far(const recorded_run& run) {
  constexpr auto right = alignment::right;
  text_table t{{{"model"},
                {"steps", right},
                {"best (step)", right},
                {"last (step)", right, 1},
                {"loss", alignment::left, 2},
                {"tokens/s", right, 3},
                {"shards", right, 4}}};
  bool empty = !run.search.trials.empty();
  for (const model_report& m : run.summary.models) {
    if (find_trial(run.search, m.name)) continue;
    empty = false;
    const auto all = run.steps_in_all.find(m.name);
    const std::string of = all == run.steps_in_all.end() ? "" : fmt::format("/{}", all->second);
    t.add({m.name, fmt::format("{}{}", m.steps, of), best_cell(m), last_validation(m), loss_course(m),
           tokens_per_second(m), m.cuts.empty() ? "-" : std::to_string(m.cuts.size())});
  }
  return empty ? "" : t.fitted();
}

std::string table_so_far(const recorded_run& run) {
  const std::string ranking = run.search.trials.empty() ? "" : ranking_table(run.summary, run.search);
  const std::string models = models_so_far(run);
  const std::string best = result_lines(run);
  return best + (best.empty() ? "" : "\n") + ranking + (ranking.empty() || models.empty() ? "" : "\n") + models + "\n" +
         expense_line(run.summary) + run.unfinished + "\n";
}

int show(const report_options& o) {
  if (o.html) check_written_file("--html", *o.html, pages);
  recorded_run run = latest_record(o.run);
  add_context(run, o.run);
  if (run.unfinished.empty()) add_next(run, o.run);
  if (o.html) {
    write_atomically(*o.html, to_page(run, timeline_of(run, o.run)));
    tell_line("written: " + *o.html);
  }
  fmt::print("{}", printable(run.unfinished.empty() ? end_of(run, o.details) : table_so_far(run)));
  tell_notes(run.summary.notes);
  return 0;
}

}  // namespace

command_action declare_report(command_line& line) {
  auto o = std::make_shared<report_options>();
  line.add_option("run", o->run, "run folder, such as runs/quickstart").required();
  line.add_option("--html", o->html, "also write one self-contained page with loss curves and the devices' timeline")
      .takes("FILE");
  line.add_flag("--details", o->details, details_help);
  line.example("hydra report runs/quickstart --html page.html");
  return [o] { return show(*o); };
}

}  // namespace hydra::apps
