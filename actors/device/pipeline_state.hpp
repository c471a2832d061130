#pragma once
// What the parts of a pipeline share: the units on the device, their operations, and the memory of the device.

#include "actors/device/operation_labels.hpp"
#include "actors/device/operation_table.hpp"
#include "actors/device/pipeline_options.hpp"
#include "actors/device/visit_list.hpp"
#include "runtime/device/device.hpp"
#include "runtime/memory/block_cache.hpp"
#include "runtime/memory/byte_budget.hpp"

namespace hydra {

struct pipeline_state {
  /// `on` outlives the state.
  pipeline_state(device& on, const pipeline_options& with);

  device& machine;
  pipeline_options options;
  byte_budget budget;
  block_cache cache;
  visit_list visits;
  operation_table operations;
  operation_labels labels;
};

}  // namespace hydra
