#pragma once
// What a model asks of the schedule; its results do not depend on it.

#include "runtime/base/bytes.hpp"

#include <optional>

namespace hydra {

struct schedule_terms {
  double priority = 1;                 ///< weight of its completion, above 0
  std::optional<duration> deadline{};  ///< since the begin of the run
  duration arrival{};                  ///< since the begin of the run: it takes part from then on
};

}  // namespace hydra
