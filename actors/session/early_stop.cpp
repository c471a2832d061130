#include "actors/session/early_stop.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

namespace hydra {

bool out_of_patience(std::span<const evaluation_record> history, const early_stop_options& options) {
  double best = std::numeric_limits<double>::infinity();
  std::uint32_t waited = 0;
  for (const auto& e : history) {
    const bool better = e.loss < best - options.minimum;  // false for NaN
    best = better ? e.loss : best;
    waited = better ? 0 : waited + 1;
  }
  return waited >= options.patience;
}

evaluation_callback early_stop(early_stop_options options) {
  if (options.patience == 0) {
    throw fault_error(fault_code::bad_input, "early-stop: patience: must be at least 1, got 0");
  }
  if (!std::isfinite(options.minimum) || options.minimum < 0) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("early-stop: minimum: must be at least 0, got {}", options.minimum));
  }
  return [options = std::move(options)](const evaluation_completed& e, control& wishes) {
    const bool mine = options.models.empty() || options.models.contains(e.name);
    if (mine && out_of_patience(e.history, options)) {
      wishes.stop(e.model);
    }
  };
}

}  // namespace hydra
