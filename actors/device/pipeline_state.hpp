#pragma once
// What the parts of a pipeline share: the units on the device, their operations, and the memory of the device.

#include "actors/device/operation_labels.hpp"
#include "actors/device/operation_table.hpp"
#include "actors/device/pipeline_options.hpp"
#include "actors/device/visit_list.hpp"
#include "runtime/device/device.hpp"
#include "runtime/memory/block_cache.hpp"
#include "runtime/memory/byte_budget.hpp"

#include <optional>

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

  /// Room for what a unit needs. Saved tensors are evicted only for the first unit that has not ended: no other one
  /// will free memory.
  std::optional<reservation> make_room(const visit_record& v, byte_count n);
};

}  // namespace hydra
