#include "apps/commands/end_of_run.hpp"

#include "actors/report/report_table.hpp"
#include "apps/report/result.hpp"

namespace hydra::apps {

std::string end_of(const recorded_run& run, bool details) {
  const std::string result = result_lines(run);
  return result + (result.empty() ? "" : "\n") +
         (details ? to_table(run.summary, run.search) : to_result(run.summary, run.search));
}

}  // namespace hydra::apps
