#pragma once
// What a model requires of the schedule. Its results do not depend on it.

#include "runtime/base/bytes.hpp"

#include <optional>

namespace hydra {

struct schedule_terms {
  double priority = 1;                 ///< weight of its completion, above 0
  std::optional<duration> deadline{};  ///< since the start of the run
  duration arrival{};                  ///< since the start of the run: it takes part from then on
};

}  // namespace hydra
