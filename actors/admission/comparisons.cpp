#include "actors/admission/comparisons.hpp"

#include "runtime/base/fault.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

namespace hydra {

namespace {

/// Enough for the shape of a schedule; a comparison has several.
constexpr std::uint64_t units_compared = 4000;

forecast predict_shortly(const planned_workload& planned, const planning_setup& from, const prediction_setup& how) {
  auto setup = forecast_of_plan(planned, from, how);
  setup.chosen = how.make_policy();
  setup.most_units = units_compared;
  return predict(std::move(setup));
}

/// None if it does not fit.
std::optional<parallel_forecast> forecast_of(const parallel_choice& choice, const planned_workload& planned,
                                             const planning_setup& from, const prediction_setup& how) try {
  auto models = from.models;
  for (std::size_t i = 0; i < models.size(); ++i) {
    models[i].parallel = choice.models[i];
  }
  const planning_setup other{.options = from.options, .models = models, .devices = from.devices,
                             .interrupts = from.interrupts, .log = from.log};
  const auto again = plan_again(planned, other);
  return parallel_forecast{
      .choice = choice, .host = again.plan.host_needed, .expected = predict_shortly(again, other, how)};
} catch (const fault_error& e) {
  if (e.what_happened().code != fault_code::does_not_fit) {
    throw;
  }
  return std::nullopt;
}

}  // namespace

std::vector<parallel_forecast> compare_parallel(const planned_workload& planned, const planning_setup& from,
                                                const prediction_setup& how, std::span<const parallel_choice> choices) {
  const bool whole_steps = from.options.optimizer_on == optimizer_place::device;
  std::vector<parallel_forecast> all{{choices.front(), planned.plan.host_needed, predict_shortly(planned, from, how)}};
  for (const auto& choice : choices.subspan(1, whole_steps ? 0 : choices.size() - 1)) {
    from.require_uninterrupted();
    if (auto other = forecast_of(choice, planned, from, how)) {
      all.push_back(*std::move(other));
    }
  }
  return all;
}

namespace {

std::size_t shards_of(const workload_plan& plan) {
  return std::accumulate(plan.models.begin(), plan.models.end(), std::size_t{0},
                         [](std::size_t sum, const model_plan& m) { return sum + m.shards.size(); });
}

bool saves(const model_plan& m) {
  return std::ranges::any_of(m.shards, [](const shard_plan& s) { return s.saved > byte_count{}; });
}

memory_forecast forecast_of(double times, const planned_workload& planned, const planning_setup& from,
                            const prediction_setup& how) {
  const auto smallest = std::ranges::min_element(planned.machines, {}, &device_info::usable)->memory;
  return {.times = times, .memory = smallest, .shards = shards_of(planned.plan),
          .expected = predict_shortly(planned, from, how)};
}

}  // namespace

std::vector<memory_forecast> compare_memory(const planned_workload& planned, const planning_setup& from,
                                            const prediction_setup& how, std::span<const double> times) {
  const auto& parts = from.options.ablation;
  if (!parts.save || !parts.cache || std::ranges::none_of(planned.plan.models, saves)) {
    return {};
  }
  std::vector<memory_forecast> all{forecast_of(1, planned, from, how)};
  for (const auto more : times) {
    if (all.back().expected.recomputed == 0) {
      break;
    }
    from.require_uninterrupted();
    auto larger = planned;
    auto with = how;
    for (auto* devices : {&larger.machines, &with.devices}) {
      for (auto& d : *devices) {
        d.memory = byte_count{static_cast<std::uint64_t>(static_cast<double>(d.memory.value()) * more)};
      }
    }
    try {
      all.push_back(forecast_of(more, plan_again(larger, from), from, with));
    } catch (const fault_error& e) {
      if (e.what_happened().code != fault_code::does_not_fit) {
        throw;
      }
      break;  // fewer or other cuts, or all models at once, need more host memory than there is
    }
  }
  return all.size() > 1 ? all : std::vector<memory_forecast>{};
}

const parallel_forecast& fastest(std::span<const parallel_forecast> ways) {
  const auto took = [](const parallel_forecast& w) { return w.expected.makespan; };
  const auto least = took(*std::ranges::min_element(ways, {}, took));
  return *std::ranges::find_if(ways, [&](const parallel_forecast& w) { return took(w) <= least + least / 50; });
}

}  // namespace hydra
