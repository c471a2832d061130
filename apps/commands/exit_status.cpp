#include "apps/commands/exit_status.hpp"

#include "runtime/base/counted.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hydra::apps {

exit_status status_of(fault_code code) {
  if (code == fault_code::bad_input) return exit_status::bad_input;
  if (code == fault_code::interrupted) return exit_status::interrupted;
  return code == fault_code::does_not_fit ? exit_status::does_not_fit : exit_status::some_failed;
}

exit_status status_of(const report& r) {
  if (r.unsaved > 0) return exit_status::some_failed;
  if (r.interrupted) return exit_status::interrupted;
  const bool failed = std::ranges::count(r.models, model_status::failed, &model_report::status) > 0;
  return failed || !r.callbacks_lost.empty() ? exit_status::some_failed : exit_status::all_done;
}

std::string failures_of(const report& r) {
  const auto failed = std::ranges::count(r.models, model_status::failed, &model_report::status);
  const auto unsaved = std::ranges::count(r.models, true, &model_report::unsaved);
  const auto files = std::int64_t{r.unsaved} - unsaved;
  std::vector<std::string> all;
  if (failed > 0) all.push_back(fmt::format("{} of {} failed", failed, counted(r.models.size(), "model")));
  if (unsaved > 0)
    all.push_back(fmt::format("{} of {} could not be saved at the end", unsaved, counted(r.models.size(), "model")));
  if (files > 0) all.push_back(counted(files, "file") + " of the run folder could not be written");
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace hydra::apps
