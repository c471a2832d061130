#pragma once
// Whether more devices make several models faster: speed-up over one device, beside what the bound allows.

#include "apps/bench/bench_workload.hpp"
#include "apps/bench/measurement.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

struct model_scaling_options {
  std::vector<int> models{1, 2, 4, 12};
  std::vector<int> devices{1, 2, 4, 8};  ///< speed-ups are over the first
  double ratio = 0.25;                   ///< mean promote time / mean unit time, sets the link
  int repeats = 3;
  bench_workload workload{.steps = 12, .layers = 7, .width = 128, .forward = std::chrono::milliseconds(4)};
};

struct model_scaling_cell {
  int models = 1;
  int devices = 1;
  measurement speed_up{};        ///< over the same models on the first number of devices, in the same repeat
  measurement bound_speed_up{};  ///< of the bound
  measurement over_bound{};      ///< makespan / bound
  measurement utilisation{};
};

struct model_scaling_result {
  bench_plan plan;
  byte_rate link{};
  std::vector<model_scaling_cell> cells;  ///< models, then devices
};

/// Throws fault_error{internal} if a model's parameters depend on the devices or on the other models.
model_scaling_result measure_model_scaling(const model_scaling_options& o);

std::string to_table(const model_scaling_result& r);
nlohmann::ordered_json json_of(const model_scaling_result& r);

}  // namespace hydra::apps
