#pragma once
// What is called while the decisions of a search are carried out. Standard library only.

#include "actors/selection/search_record.hpp"

#include <functional>

namespace hydra {

/// Called on a thread of the run; both must return soon.
struct search_hooks {
  /// Gets each event and its decisions before they are carried out. If it throws what to_fault() takes for {io}
  /// (fault_error, std::ios_base::failure, filesystem_error), it is called again later, and the trials wait meanwhile:
  /// it must then have recorded nothing of it. Other exceptions end the search, not the run.
  std::function<void(const search_record&)> record{};
  /// Begins a copy of a trial, on another thread, and says so by session::copy_begun(); until then the other trial
  /// waits: its newest state is that after `steps`. Asked again for a copy that is there, as after a resume, it only
  /// says so. If the run ends before, a run that is resumed asks again.
  std::function<void(const trial_copy&)> copy{};
};

}  // namespace hydra
