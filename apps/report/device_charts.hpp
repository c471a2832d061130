#pragma once
// SVG charts of the devices: a timeline of their queues, and what their time was spent on.

#include "apps/report/timeline.hpp"
#include "apps/run_folder/recorded_run.hpp"

#include <span>
#include <string>

namespace hydra::apps {

/// Lanes for compute (tall), h2d and d2h of each device, coloured by model. Long runs are drawn in slices of time, as
/// high as the lane was busy in them. Empty text without spans.
std::string timeline_chart(const timeline& t);

/// A bar of the makespan for each device.
struct breakdown_bar {
  std::string device;
  std::vector<named_seconds> parts;
};

/// The time breakdown of each device; without one, what follows from busy and exposed time. Empty if the makespan is
/// unknown.
std::vector<breakdown_bar> breakdown_bars(const recorded_run& run);

/// Stacked bars on one scale, with a legend. Empty text without bars.
std::string breakdown_chart(std::span<const breakdown_bar> bars);

/// "exposed_h2d" -> "exposed h2d"; unknown causes keep their name.
std::string cause_text(std::string_view name);

}  // namespace hydra::apps
