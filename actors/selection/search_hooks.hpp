#pragma once
// What is called while the decisions of a search are carried out. Standard library only.

#include "actors/selection/search_record.hpp"

#include <functional>

namespace hydra {

/// Called on a thread of the run; both must return soon.
struct search_hooks {
  /// Gets each event and its decisions before they are carried out; may throw: then the run continues without search.
  std::function<void(const search_record&)> record{};
  /// Begins a copy of a trial, on another thread, and calls `begun`, from any thread: with true when it has joined the
  /// run, with false if it cannot. Until then the other trial waits: its newest state is that after `steps`. Asked again
  /// for a copy that is there, as after a resume, it only calls `begun`. If the run ends before, it does not call it:
  /// a run that is resumed asks again.
  std::function<void(const trial_copy&, std::function<void(bool joined)> begun)> copy{};
};

}  // namespace hydra
