#include "apps/commands/end_of_run.hpp"

#include "actors/report/report_table.hpp"
#include "apps/report/result.hpp"
#include "apps/run_folder/next_commands.hpp"

#include <vector>

namespace hydra::apps {

std::string end_of(const recorded_run& run, const std::filesystem::path& folder, bool details) {
  const auto best = best_model(run);
  const model_report* const model = best ? &run.summary.models[*best] : nullptr;
  const std::string result = result_lines(run, model ? next_commands(folder, *model) : std::vector<std::string>{},
                                          model ? note_on_state(folder, *model) : "");
  return result + (result.empty() ? "" : "\n") +
         (details ? to_table(run.summary, run.search) : to_result(run.summary, run.search));
}

}  // namespace hydra::apps
