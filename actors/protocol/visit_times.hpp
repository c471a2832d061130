#pragma once
// Times of a unit on its device, and what the device had to wait for before and during it.

#include "runtime/base/bytes.hpp"

#include <optional>

namespace hydra {

struct visit_times {
  duration compute{};                  ///< busy time of the compute queue, its speed's sleep included
  std::optional<duration> promote;     ///< h2d of its parameters but frozen ones; none for a hit
  std::optional<duration> promote_base;  ///< h2d of its frozen parameters; none for a hit
  std::optional<duration> demote;      ///< d2h of its gradients
  double speed = 1.0;

  time_point available{};              ///< it could be staged here
  time_point placed{};                 ///< the device received prefetch_shard
  std::optional<time_point> idle_since;  ///< end of the computation before it; none: it is the device's first
  time_point begin{};                  ///< of its first computation
  time_point end{};                    ///< of its last one
  duration exposed_h2d{};              ///< time since `placed` in which nothing computed and copies in were under way
  duration exposed_d2h{};              ///< the same for copies out that it waited for, without copies in
};

}  // namespace hydra
