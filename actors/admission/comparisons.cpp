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

forecast predict_shortly(const planned_run& run) {
  auto setup = forecast_of_plan(run);
  setup.chosen = run.make_policy();
  setup.most_units = units_compared;
  return predict(std::move(setup));
}

/// None if it does not fit.
std::optional<parallel_forecast> forecast_of(const parallel_choice& choice, planned_run run) try {
  auto models = run.from.models;
  for (std::size_t i = 0; i < models.size(); ++i) {
    models[i].parallel = choice.models[i];
  }
  const auto& from = run.from;
  run.planned = plan_again(run.planned, {.options = from.options, .models = models, .devices = from.devices,
                                         .interrupts = from.interrupts, .log = from.log});
  return parallel_forecast{.choice = choice, .host = run.planned.plan.host_needed, .expected = predict_shortly(run)};
} catch (const fault_error& e) {
  if (e.what_happened().code != fault_code::does_not_fit) {
    throw;
  }
  return std::nullopt;
}

}  // namespace

std::vector<parallel_forecast> compare_parallel(const planned_run& run, std::span<const parallel_choice> choices) {
  const bool whole_steps = run.from.options.optimizer_on == optimizer_place::device;
  std::vector<parallel_forecast> all{{choices.front(), run.planned.plan.host_needed, predict_shortly(run)}};
  for (const auto& choice : choices.subspan(1, whole_steps ? 0 : choices.size() - 1)) {
    run.from.require_uninterrupted();
    if (auto other = forecast_of(choice, run)) {
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

memory_forecast forecast_of(double times, const planned_run& run) {
  const auto smallest = std::ranges::min_element(run.planned.machines, {}, &device_info::usable)->memory;
  return {.times = times, .memory = smallest, .shards = shards_of(run.planned.plan), .expected = predict_shortly(run)};
}

}  // namespace

std::vector<memory_forecast> compare_memory(const planned_run& run, std::span<const double> times) {
  const auto& parts = run.from.options.ablation;
  if (!parts.save || !parts.cache || std::ranges::none_of(run.planned.plan.models, saves)) {
    return {};
  }
  std::vector<memory_forecast> all{forecast_of(1, run)};
  for (const auto more : times) {
    if (all.back().expected.recomputed == 0) {
      break;
    }
    run.from.require_uninterrupted();
    auto larger = run;
    for (auto* devices : {&larger.planned.machines, &larger.devices}) {
      for (auto& d : *devices) {
        d.memory = byte_count{static_cast<std::uint64_t>(static_cast<double>(d.memory.value()) * more)};
      }
    }
    try {
      larger.planned = plan_again(larger.planned, run.from);
      all.push_back(forecast_of(more, larger));
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
