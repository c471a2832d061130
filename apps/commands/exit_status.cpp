#include "apps/commands/exit_status.hpp"

#include <algorithm>

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

}  // namespace hydra::apps
