#include "actors/admission/staged_units.hpp"

#include "actors/simulation/planned_instance.hpp"

#include <algorithm>
#include <optional>
#include <ranges>

namespace hydra {

namespace {

/// Shards that a step loads for forward visits, against what these compute.
bool loads_slowly(const model_plan& m, std::span<const device_info> devices) {
  duration loads{};
  duration forward{};
  for (std::uint32_t s = 0; s < m.shards.size(); ++s) {
    loads += fastest_copy(m.shards[s].base + m.shards[s].parameters, devices);
    forward += m.shards[s].forward_time / m.shape().visits_of(s);
  }
  return loads > forward;
}

std::uint32_t most_of(const planned_run& run) {
  if (!may_stage_several(run)) {
    return 1;
  }
  auto options = pipeline_of(run.planned.plan, run.from.options.ablation);
  options.slots = run.most_staged_units;
  const auto slots = [&](const device_info& d) { return options.slots_in(d.usable()); };
  return std::ranges::min(run.devices | std::views::transform(slots));
}

/// None if it cannot be simulated: the run may know better.
std::optional<forecast> predicted_with(std::uint32_t units, planned_run run) {
  run.from.require_uninterrupted();
  stage_units(run.planned.plan, units, run.from.options.ablation, run.devices);
  try {
    return predict_shortly(run);
  } catch (const fault_error&) {
    return std::nullopt;
  }
}

}  // namespace

void stage_units(workload_plan& plan, std::uint32_t units, const ablation_options& parts,
                 std::span<const device_info> devices) {
  plan.staged_units = units;
  const auto smallest = std::ranges::min(devices | std::views::transform(&device_info::usable));
  const auto room = pipeline_of(plan, parts).saving_room(smallest);
  for (auto& m : plan.models) {
    m.saving_room = room;
  }
}

bool may_stage_several(const planned_run& run) {
  const auto slowly = [&](const model_plan& m) { return loads_slowly(m, run.devices); };
  return run.most_staged_units > 1 && std::ranges::any_of(run.planned.plan.models, slowly);
}

planned_run with_staged_units(planned_run run) {
  stage_units(run.planned.plan, choose_staged_units(run), run.from.options.ablation, run.devices);
  return run;
}

std::uint32_t choose_staged_units(const planned_run& run) {
  constexpr double hardly_longer = 1.01;
  constexpr double hidden = 1.02;  // makespan / bound
  const auto most = most_of(run);
  if (most == 1) {
    return 1;
  }
  std::uint32_t best = 1;
  std::optional<duration> least;
  for (const std::uint32_t units : {1u, 2u, 3u, 4u, 6u, 8u}) {
    const auto expected = units <= most ? predicted_with(units, run) : std::nullopt;
    if (!expected) {
      break;
    }
    if (!least || seconds(expected->makespan) * hardly_longer < seconds(*least)) {
      best = units;
      least = expected->makespan;
    }
    if (seconds(expected->makespan) < hidden * seconds(expected->limits.best())) {
      break;
    }
  }
  return best;
}

}  // namespace hydra
