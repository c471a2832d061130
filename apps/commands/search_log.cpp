#include "apps/commands/search_log.hpp"

#include "actors/selection/search_rules.hpp"
#include "apps/run_folder/recorded_search.hpp"
#include "apps/steering/trial_copies.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/appended_file.hpp"
#include "runtime/storage/file_system.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// Half a line, which a killed run has left, is removed: the next one begins a line.
void cut_off_half_line(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return;
  fs::resize_file(file, read_text(file, text_kind::record).rfind('\n') + 1, error);
  if (error) throw file_error("cut off half a line of", file, error.value());
}

/// What a line that is removed had decided is decided again: session::use_search().
std::vector<search_record> take_over(const fs::path& run) try {
  const auto decided = read_decisions(run);
  cut_off_half_line(run / search_file);
  return decided;
} catch (const fault_error& e) {
  if (e.what_happened().code != fault_code::damaged) throw;
  refuse(fmt::format(
      "{}; restore the file from a copy, or remove that line and all below it: what they decided is decided "
      "again, by the evaluations in the checkpoints of the trials",
      e.what_happened().text));
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

struct search_log {
  search_hooks hooks;
  std::vector<search_record> earlier;
};

search_log open_log(const workload& w, bool resumes, std::function<void(const trial_copy&)> copy) {
  auto earlier = resumes ? take_over(w.options.output) : std::vector<search_record>{};
  const auto log = std::make_shared<appended_file>(w.options.output / search_file);
  check_copies(w, earlier);
  return {{.record = [log](const search_record& r) { log->append_durably(to_json_line(r)); }, .copy = std::move(copy)},
          std::move(earlier)};
}

template <class Use>
auto used(const workload& w, const Use& use) try {
  return use();
} catch (const fault_error& e) {
  if (e.what_happened().code != fault_code::damaged) throw;
  refuse(w.options.output / search_file,
         fmt::format("{}; [search] and the steps of its models must be as they were, or train in another folder",
                     e.what_happened().text));
}

std::vector<trial_result> saved_results(const workload& w) {
  std::vector<trial_result> all;
  for (const model_entry& m : w.models) {
    const std::string& name = m.description.name;
    const auto states = states_to_continue(checkpoints_of(w.options.output / "checkpoints", name));
    if (!states.empty())
      add_results(all, name, read_checkpoint(states.front()).standing.history, w.search->metric);
  }
  return all;
}

}  // namespace

void add_search(session& into, const workload& w, bool resumes, trial_copies& copies) {
  if (!w.search) return;
  const search_log log = open_log(w, resumes, [&copies](const trial_copy& c) { copies.begin(c); });
  used(w, [&] { into.use_search(*w.search, log.hooks, log.earlier); });
}

search_setup search_on_nodes(const workload& w, bool resumes, trial_copies& copies) {
  if (!w.search || !has_rule(w.search->kind)) return {};
  const search_log log = open_log(w, resumes, [&copies](const trial_copy& c) { copies.begin(c); });
  return used(w, [&] {
    search_setup search = make_search(*w.search, log.hooks, log.earlier);
    for (const search_record& r : take_missing(search, log.earlier, saved_results(w))) log.hooks.record(r);
    return search;
  });
}

}  // namespace hydra::apps
