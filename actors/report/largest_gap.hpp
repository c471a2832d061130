#pragma once
// Where most of the time went that a run took beyond its bound, in plain words.

#include "actors/report/report.hpp"

#include <optional>
#include <string>

namespace hydra {

struct named_gap {
  double share = 0;  ///< of the time of all devices, each weighted by its speed
  std::string text;  ///< "waits for copies to the devices"
};

/// The largest part of the devices' time that was not spent on units at their smallest times. A part that is larger
/// than all that the run took beyond its bound is in the bound, too, and is left out. None below half a percent, and of
/// a run whose time was not measured.
std::optional<named_gap> largest_gap(const report& r);

}  // namespace hydra
