#pragma once
// The simulator's second driver: the schedule tracker and the policy object in a plain event loop, without actors.
// Fast, and a check of the actors: with them it shares only the graph of a step and the schedule tracker. Integer
// nanoseconds: ties are exact, the same instance gives the same run.

#include "actors/policy/policy.hpp"
#include "actors/report/expenses.hpp"
#include "actors/simulation/instance.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

struct loop_options {
  completion_rule completion = completion_rule::ended;
  bool record_order = false;   ///< fill simulated_run::units
};

/// A unit as it was run.
struct simulated_unit {
  model_id model;
  std::uint32_t lane = 0;
  std::uint32_t step = 0;
  std::uint32_t index = 0;     ///< in the step of its lane: 0 .. 2S-2
  device_id device;
  duration begin{};            ///< since the start of the run
  duration end{};
  bool hit = false;            ///< its parameters were on the device
};

struct simulated_run {
  duration makespan{};         ///< the last version of every shard is ready
  duration compute_end{};      ///< end of the last unit
  std::uint64_t loads = 0;
  std::uint64_t hits = 0;
  std::uint64_t decisions = 0; ///< how often the policy was asked
  std::vector<std::string> replacements;  ///< of a policy that failed or chose nothing, with the reason
  std::vector<duration> finished;       ///< per model: its last version is ready
  run_work work;                        ///< of devices, but for units that were lost with one
  std::vector<simulated_unit> units;    ///< in the order of their ends, if asked for
};

/// When models were complete.
struct simulated_completions {
  duration mean{};             ///< since their arrival
  duration weighted{};         ///< by their priorities
  std::size_t deadlines = 0;   ///< models that have one
  std::size_t missed = 0;
  duration tardiness{};        ///< mean time after the deadline, of models that have one: 0 of those before it
};

/// Cost and energy of its devices, by their terms.
expense expense_of(const schedule_instance& instance, const simulated_run& run);

simulated_completions completions_of(const schedule_instance& instance, const simulated_run& run);

/// Runs the instance to its end. Throws fault_error{bad_input} of validate(), fault_error{device_lost} if all devices
/// die.
simulated_run run_in_loop(const schedule_instance& instance, std::unique_ptr<policy> chosen,
                          const loop_options& options = {});

}  // namespace hydra
