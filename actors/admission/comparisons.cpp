#include "actors/admission/comparisons.hpp"

#include "actors/admission/staged_units.hpp"
#include "runtime/base/fault.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

namespace hydra {

namespace {

std::size_t shards_of(const workload_plan& plan) {
  return std::accumulate(plan.models.begin(), plan.models.end(), std::size_t{0},
                         [](std::size_t sum, const model_plan& m) { return sum + m.shards.size(); });
}

/// Of models in one lane several units may be staged.
parallel_forecast forecast_of(const parallel_choice& choice, const planned_run& run) {
  const auto& plan = run.planned.plan;
  const bool one_lane = std::ranges::all_of(plan.models, [](const auto& m) { return m.shape().lanes() == 1; });
  return {.choice = choice,
          .host = plan.host_needed,
          .shards = shards_of(plan),
          .expected = predict_shortly(one_lane ? with_staged_units(run) : run)};
}

std::vector<model_description> divided(const planned_run& run, const parallel_choice& choice) {
  std::vector<model_description> models;
  std::ranges::transform(run.from.models, choice.models, std::back_inserter(models),
                         [](const auto& m, const model_way& way) { return divided(m, way); });
  return models;
}

planned_workload planned_with(const planned_run& run, const parallel_choice& choice) {
  const auto& from = run.from;
  const auto models = divided(run, choice);
  return plan_again(run.planned, {.options = from.options, .models = models, .devices = from.devices,
                                  .interrupts = from.interrupts, .log = from.log});
}

/// Of a workload that is planned again with other choices.
class choice_forecasts {
 public:
  explicit choice_forecasts(const planned_run& run) : run_(run), seen_{divisions_of(run.planned.plan)} {}

  /// None if it does not fit, or has the plan of one before.
  std::optional<parallel_forecast> next(const parallel_choice& choice) {
    run_.from.require_uninterrupted();
    auto planned = planned_again(choice);
    if (!planned || std::ranges::count(seen_, divisions_of(planned->plan)) > 0) {
      return std::nullopt;
    }
    seen_.push_back(divisions_of(planned->plan));
    auto run = run_;
    run.planned = *std::move(planned);
    return forecast_of(choice, run);
  }

 private:
  /// What of a plan a choice may change.
  using divisions = std::vector<std::pair<step_shape, cut_points>>;

  static divisions divisions_of(const workload_plan& plan) {
    divisions all;
    std::ranges::transform(plan.models, std::back_inserter(all),
                           [](const model_plan& m) { return std::pair{m.shape(), m.cuts()}; });
    return all;
  }

  std::optional<planned_workload> planned_again(const parallel_choice& choice) const try {
    return planned_with(run_, choice);
  } catch (const fault_error& e) {
    if (e.what_happened().code != fault_code::does_not_fit) {
      throw;
    }
    return std::nullopt;
  }

  const planned_run& run_;
  std::vector<divisions> seen_;
};

}  // namespace

std::vector<parallel_forecast> compare_parallel(const planned_run& run, std::span<const parallel_choice> choices) {
  const bool whole_steps = run.from.options.optimizer_on == optimizer_place::device;
  std::vector all{forecast_of(choices.front(), run)};
  choice_forecasts others(run);
  for (const auto& choice : choices.subspan(1, whole_steps ? 0 : choices.size() - 1)) {
    if (auto other = others.next(choice)) {
      all.push_back(*std::move(other));
    }
  }
  return all;
}

namespace {

bool saves(const model_plan& m) {
  return std::ranges::any_of(m.shards, [](const shard_plan& s) { return s.saved > byte_count{}; });
}

/// With more memory at least as many shards as now where loads are slow: fewer would be longer, and the run slower.
parallel_choice as_fine_as(const planned_run& run) {
  auto choice = finer_choices(run.from.models, run.planned.plan).front();
  for (std::size_t i = 0; may_stage_several(run) && i < choice.models.size(); ++i) {
    choice.models[i].shards = std::max(choice.models[i].shards, run.planned.plan.models[i].shards.size());
  }
  return choice;
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
  const auto as_fine = as_fine_as(run);
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
      larger.planned = planned_with(larger, as_fine);
      all.push_back(forecast_of(more, with_staged_units(larger)));
    } catch (const fault_error& e) {
      if (e.what_happened().code != fault_code::does_not_fit) {
        throw;
      }
      break;  // fewer or other cuts, or all models at once, need more host memory than there is
    }
  }
  return all.size() > 1 ? all : std::vector<memory_forecast>{};
}

namespace {

/// Less is within the error of a prediction.
constexpr double worth_changing = 1.02;
/// For all groups; of 12 models on 8 devices each takes 0.3 s.
constexpr std::size_t most_planned = 16;

using model_group = std::vector<std::size_t>;

duration work_of(const planned_workload& planned, const model_group& group) {
  duration sum{};
  for (const auto i : group) {
    for (const auto& s : planned.plan.models[i].shards) {
      sum += (s.forward_time + s.backward_time) * planned.prepared[i].steps;
    }
  }
  return sum;
}

/// Models that cost the same and have the same ways; those with the most work first.
std::vector<model_group> groups_of(const planned_run& run, std::span<const parallel_forecast> ways) {
  const auto& planned = run.planned;
  const auto same = [&](std::size_t a, std::size_t b) {
    return planned.prepared[a].profile == planned.prepared[b].profile &&
           planned.plan.models[a].micro_batches == planned.plan.models[b].micro_batches &&
           std::ranges::all_of(ways, [&](const auto& w) { return w.choice.models[a] == w.choice.models[b]; });
  };
  std::vector<model_group> groups;
  for (std::size_t i = 0; i < planned.prepared.size(); ++i) {
    const auto found = std::ranges::find_if(groups, [&](const model_group& g) { return same(g.front(), i); });
    (found == groups.end() ? groups.emplace_back() : *found).push_back(i);
  }
  std::ranges::stable_sort(groups, std::greater{}, [&](const model_group& g) { return work_of(planned, g); });
  return groups;
}

parallel_choice with(parallel_choice choice, const model_group& group, const parallel_choice& way) {
  for (const auto i : group) {
    choice.models[i] = way.models[i];
  }
  return choice;
}

}  // namespace

parallel_choice choose_for_each(const planned_run& run, std::span<const parallel_forecast> ways) {
  auto best = fastest(ways);
  const auto groups = groups_of(run, ways);
  std::vector<const parallel_forecast*> faster_first;
  std::ranges::transform(ways, std::back_inserter(faster_first), [](const auto& w) { return &w; });
  std::ranges::stable_sort(faster_first, {}, [](const auto* w) { return w->expected.makespan; });
  std::vector<std::vector<model_way>> planned;
  std::ranges::transform(ways, std::back_inserter(planned), [](const auto& w) { return w.choice.models; });
  choice_forecasts others(run);
  for (const auto& group : groups) {
    auto left = std::max<std::size_t>(most_planned / groups.size(), 1);
    for (auto way = faster_first.begin(); way != faster_first.end() && left > 0; ++way) {
      const auto choice = with(best.choice, group, (*way)->choice);
      if (std::ranges::count(planned, choice.models) > 0) {
        continue;
      }
      planned.push_back(choice.models);
      --left;
      const auto other = others.next(choice);
      if (other && seconds(other->expected.makespan) * worth_changing < seconds(best.expected.makespan)) {
        best = *other;
      }
    }
  }
  return best.choice;
}

std::optional<parallel_choice> choose_shards(const planned_run& run) try {
  const auto choices = finer_choices(run.from.models, run.planned.plan);
  if (choices.size() == 1 || !may_stage_several(run) || !run.planned.plan.waiting.empty()) {
    return std::nullopt;
  }
  const auto ways = compare_parallel(run, choices);
  const auto& best = fastest(ways).choice;
  return best == ways.front().choice ? std::nullopt : std::optional(best);
} catch (const fault_error& e) {
  if (e.what_happened().code == fault_code::interrupted) {
    throw;
  }
  return std::nullopt;  // the run may know better
}

const parallel_forecast& fastest(std::span<const parallel_forecast> ways) {
  const auto took = [](const parallel_forecast& w) { return w.expected.makespan; };
  const auto least = took(*std::ranges::min_element(ways, {}, took));
  return *std::ranges::find_if(ways, [&](const parallel_forecast& w) { return took(w) <= least + least / 50; });
}

}  // namespace hydra
