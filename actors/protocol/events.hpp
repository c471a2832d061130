#pragma once
// Events that a user's callbacks can subscribe to, and the requests that a callback can make.

#include "actors/protocol/model_description.hpp"
#include "partition/checkpoint/model_history.hpp"
#include "runtime/base/ids.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

// In all of them `done` counts the steps of the model that are complete: 1 after the first one.

/// A model has completed an optimizer step: its loss is known, its last gradient has been written back.
struct step_completed {
  model_id model;
  std::string name;
  std::uint32_t done = 0;      ///< steps, with this one
  std::uint32_t of = 0;        ///< steps of the model in all
  float loss = 0;
  float grad_norm = 0;         ///< 0 without clipping
};

/// A model has been evaluated on its validation data.
struct evaluation_completed {
  model_id model;
  std::string name;
  std::uint32_t done = 0;      ///< steps before it
  double loss = 0;             ///< mean over the targets
  std::optional<double> accuracy;
  std::vector<evaluation_record> history{};  ///< all evaluations of the model so far, this one last
};

/// Requests of a callback. They take effect at that model's next step boundary, which waits for the callback: what a
/// callback asks of the model it is called for does not depend on timing.
class control {
 public:
  /// The model ends after the step that has just completed, or has just been evaluated; its status is `stopped`. For an id
  /// that no model of the run has, nothing is stopped, and the log and the report's notes say so.
  void stop(model_id model) { stopped_.push_back(model); }
  const std::vector<model_id>& stopped() const noexcept { return stopped_; }

  /// One more model. It is prepared in parallel with the run, joins it, and has the same results as alone; the run does
  /// not end before. If it is refused (its name is taken, it does not fit, the run is being halted), the log and the
  /// report's notes say so, and the run continues without it.
  void add(model_description model) { added_.push_back(std::move(model)); }
  const std::vector<model_description>& added() const noexcept { return added_; }

 private:
  std::vector<model_id> stopped_;
  std::vector<model_description> added_;
};

/// The events that the callbacks of a run subscribe to.
struct observations {
  bool steps = false;
  bool evaluations = false;
};

using step_callback = std::function<void(const step_completed&, control&)>;
using evaluation_callback = std::function<void(const evaluation_completed&, control&)>;

}  // namespace hydra
