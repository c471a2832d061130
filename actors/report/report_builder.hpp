#pragma once
// Builds the report from the REPORTER's record and the state of devices and host memory.

#include "actors/report/report.hpp"
#include "actors/report/run_record.hpp"
#include "actors/report/shared_expense.hpp"
#include "partition/execute/kept_parameters.hpp"

#include <span>

namespace hydra {

/// A device at the end of the run.
struct device_snapshot {
  device_info info;
  memory_usage memory;
};

struct finished_run {
  const run_record* record = nullptr;
  const run_terms* terms = nullptr;
  std::span<const model_entry> models;
  std::span<const device_snapshot> devices;
  const host_arena* arena = nullptr;
  const kept_parameters* parameters = nullptr;
  shared_expense before{};  ///< taken by the parts of the run before
};

/// What the run has taken before, and here: of all and of each model.
void add_spent(report& r, const shared_expense& before, const shared_expense& here);

/// Makespan, bounds, devices and models; the caller adds name, seed and the times before the run.
report build_report(const finished_run& run);

}  // namespace hydra
