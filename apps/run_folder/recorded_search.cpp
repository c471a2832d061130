#include "apps/run_folder/recorded_search.hpp"

#include "actors/selection/search_rules.hpp"
#include "actors/selection/trial_score.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/run_folder/saved_run.hpp"
#include "apps/workload/parse.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// A run without search must not depend on what its workload needs to be read, such as tokenizers.
bool has_search(const fs::path& run) {
  const fs::path file = run / workload_file;
  return kind_of(file) == fs::file_type::regular &&
         parse_toml(read_text(file, text_kind::settings), file.string()).find("search");
}

/// The best evaluation of each model as a result, the last one if none is finite, for a search that has decided
/// nothing: a model that is stopped early ends with worse ones.
std::vector<search_record> best_results(const report& r, search_metric metric) {
  std::vector<search_record> results;
  for (const model_report& m : r.models) {
    std::optional<trial_result> best;
    for (const validation_report& v : m.validation)
      if (const double score = score_of(metric, v.loss, v.accuracy);
          !best || score < best->score || !std::isfinite(best->score))
        best = trial_result{m.name, v.step, score};
    if (best) results.push_back({*best, {}});
  }
  return results;
}

/// A model that has diverged has no result: its trial comes behind all others, however far it was.
search_ranking with_diverged_last(search_ranking s, const report& r) {
  std::ranges::stable_partition(s.trials, [&r](const ranked_trial& t) {
    const auto m = std::ranges::find(r.models, t.is.name, &model_report::name);
    return m == r.models.end() || m->error.code != fault_code::not_finite;
  });
  return s;
}

}  // namespace

std::vector<search_record> read_decisions(const fs::path& run) {
  const fs::path file = run / search_file;
  if (kind_of(file) == fs::file_type::not_found) return {};
  const std::string lines = read_text(file, text_kind::record);
  try {
    return parse_search_records(lines);
  } catch (const fault_error& e) {
    throw fault_error{e.what_happened().code, fmt::format("{}: {}", file.string(), e.what_happened().text)};
  }
}

search_ranking read_ranking(const fs::path& run, report& r) try {
  if (!has_search(run)) return {};
  const search_settings search = read_run(run).search.value();
  const bool decides = has_rule(search.kind);
  const auto records = decides ? read_decisions(run) : best_results(r, search.metric);
  return records.empty() ? search_ranking{} : with_diverged_last(rank_trials(search, records), r);
} catch (const fault_error& e) {
  r.notes.push_back(fmt::format("the ranking of the search is not shown: {}", e.what_happened().text));
  return {};
}

}  // namespace hydra::apps
