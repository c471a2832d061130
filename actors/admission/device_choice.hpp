#pragma once
// Which of its devices a workload should use: what it would take on others of them, measured once, planned and
// predicted again.

#include "actors/admission/compared_forecasts.hpp"
#include "actors/admission/prediction.hpp"
#include "actors/report/run_goal.hpp"
#include "runtime/base/fault.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

std::vector<device_class> classes_of(std::span<const device_info> devices, const run_terms& terms);

/// `given`: the models as they were described; steps in parallel that they leave open are those of the fastest run on
/// each choice. Each run is simulated with fewer steps than predict() takes. A workload whose models do not all fit
/// into host memory has only the choice of all devices.
device_choices compare_devices(const planned_run& run, std::span<const model_description> given,
                               const run_terms& terms);

/// It fits, and its expected makespan meets the goal's deadline, if there is one.
bool is_in_time(const device_choice& c, const run_goal& goal);

/// Their places: those in time, those that are too late, those that do not fit; of each the best by the goal's
/// objective first, of equal ones the fastest, then the first.
std::vector<std::size_t> best_first(std::span<const device_choice> all, const run_goal& goal);

/// The first of these; none: none is in time.
std::optional<std::size_t> best_choice(std::span<const device_choice> all, const run_goal& goal);

/// "cpu:0, 2 of cpu:1 to cpu:4".
std::string to_text(const device_choice& c, std::span<const device_class> classes);

/// None of `choices` meets the goal: the text has the fastest one and its time, or why nothing fits.
struct goal_not_met : fault_error {
  goal_not_met(const device_choices& choices, const run_goal& goal);
  device_choices compared;
};

/// Which devices a run uses, and what it is expected to take.
std::string choice_note(const device_choices& choices, std::size_t chosen, const run_goal& goal,
                        const run_terms& terms);

/// The devices of a choice: of each class the first ones, in the order of the workload.
std::vector<std::size_t> members_of(const device_choice& c, std::span<const device_class> classes);

/// What no schedule of a run with these bounds can take less than: a device is paid for the makespan, or for the work
/// that it does; work is cheapest where (P_busy - P_idle) / speed is smallest.
expense least_expense(const bounds& limits, std::span<const device_info> devices, const run_terms& terms);

}  // namespace hydra
