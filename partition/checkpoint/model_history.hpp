#pragma once
// What a model has reported so far, and how far it is.

#include "runtime/base/step_position.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

namespace hydra {

/// One evaluation on validation data.
struct evaluation_record {
  std::uint32_t steps = 0;     ///< complete before it
  double loss = 0;             ///< mean over the targets
  std::optional<double> accuracy{};
  friend bool operator==(const evaluation_record&, const evaluation_record&) = default;
};

struct model_history {
  std::vector<float> losses;        ///< of every step that was reported
  std::vector<float> grad_norms;    ///< the same, if clipping
  std::vector<evaluation_record> evaluations;
  bool evaluated_after(std::uint32_t steps) const noexcept {
    return !evaluations.empty() && evaluations.back().steps == steps;
  }
  /// The last evaluation (there must be one) has a smaller loss than every one before; NaN is never best.
  bool last_is_best() const noexcept {
    const double last = evaluations.back().loss;
    const auto as_good = [&](const evaluation_record& e) { return e.loss <= last; };
    return !std::isnan(last) && std::none_of(evaluations.begin(), std::prev(evaluations.end()), as_good);
  }
};

/// What has committed, and what goes with it.
struct model_standing {
  step_position next{};             ///< the units to run next
  std::vector<float> losses{};      ///< of the micro-batches of a step that is not reported yet, as far as they are
                                    ///< known, in order; of all of them only the sum
  bool stopped = false;             ///< the model ends with the steps that have begun
  model_history history{};

  /// Steps that are complete, and the one that has begun.
  std::uint32_t begun_steps() const noexcept { return next.step + (next.begins_step() ? 0 : 1); }
};

}  // namespace hydra
