#include "apps/commands/search_log.hpp"

#include "apps/run_folder/recorded_search.hpp"
#include "apps/steering/trial_copies.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// Half a line, which a killed run has left, is removed: the next one begins a line.
std::vector<search_record> take_over(const fs::path& run) {
  const fs::path file = run / search_file;
  std::error_code none;
  if (fs::is_regular_file(file, none)) fs::resize_file(file, read_text(file).rfind('\n') + 1);
  return read_decisions(run);
}

/// Copies continue the trials' steps, and comparisons wait for them.
void check_copies(const workload& w, const std::vector<search_record>& earlier) {
  for (const search_record& r : earlier)
    for (const trial_decision& d : r.decisions)
      for (const model_entry& m : w.models)
        if (d.copy && m.description.name == d.copy->trial && m.description.steps != w.search->steps)
          refuse(
              m.keys.where, "model.steps",
              fmt::format("{}, a copy of {}, has {} steps, the trials of the search {}: all must train equally long; "
                          "set model.steps to {} again",
                          d.copy->trial, d.copy->of, m.description.steps, w.search->steps, m.description.steps));
}

void append(const fs::path& file, const search_record& r) {
  std::ofstream out{file, std::ios::app};
  out << to_json_line(r) << std::flush;
  if (!out) throw fault_error{fault_code::io, fmt::format("{} cannot be written", file.string())};
}

}  // namespace

void add_search(session& into, const workload& w, bool resumes, trial_copies& copies) {
  if (!w.search) return;
  const fs::path file = w.options.output / search_file;
  const auto earlier = resumes ? take_over(w.options.output) : std::vector<search_record>{};
  check_copies(w, earlier);
  try {
    into.use_search(*w.search,
                    {.record = [file](const search_record& r) { append(file, r); },
                     .copy = [&copies](const trial_copy& c) { copies.begin(c); }},
                    earlier);
  } catch (const fault_error& e) {
    if (e.what_happened().code != fault_code::damaged) throw;
    refuse(file,
           fmt::format("{}; [search] and the steps of its models must be as they were, or train in another folder",
                       e.what_happened().text));
  }
}

}  // namespace hydra::apps
