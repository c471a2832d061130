#pragma once
// Predicts the times of a plan: the same actors in virtual time, with the times of the pilot.

#include "actors/device/pipeline_options.hpp"
#include "actors/policy/policy.hpp"
#include "actors/simulation/forecast.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/device/device.hpp"

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace hydra {

class recorded_times;
struct run_record;

struct forecast_setup {
  std::vector<device_info> devices;       ///< with the rate of their link, measured if it is not emulated
  std::vector<sharded_model_ptr> models;  ///< only plan, steps, update rule and ties count
  std::set<model_id> waiting{};           ///< of them, those for which there is no host memory at the start
  byte_count host_memory{std::uint64_t{1} << 50};
  std::unique_ptr<policy> chosen;
  pipeline_options pipeline;
  int optimizer_workers = 1;
  std::uint64_t most_units = 20000;  ///< longer runs are shortened to about so many units
  std::shared_ptr<recorded_times> recorded{};  ///< of a run, instead of the plan's times; consumed
};

/// From the first prefetch to the last update. Throws fault_error with the fault of a run that did not end well, or of
/// a model.
duration makespan_of(const run_record& record);

/// Throws fault_error with the fault of the simulated run if it does not end well.
forecast predict(forecast_setup setup);

/// Times of a planned model at speed 1, over the fastest of the links. `saving`: bytes that a device has for saved
/// tensors; a backward visit computes nothing again that they may hold.
unit_times planned_times(const sharded_model& m, std::span<const device_info> devices, byte_count saving = {});

}  // namespace hydra
