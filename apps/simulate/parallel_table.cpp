#include "apps/simulate/parallel_table.hpp"

#include "actors/report/text_table.hpp"
#include "runtime/base/counted.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace hydra::apps {

namespace {

using enum alignment;

/// Less is within the error of a prediction.
constexpr double worth_saying = 1.02;

double speed_up(const parallel_forecast& plan, const parallel_forecast& way) {
  const double took = seconds(way.expected.makespan);
  return took > 0 ? seconds(plan.expected.makespan) / took : 1;
}

/// Waves decide no results.
bool same_results(const parallel_forecast& plan, const parallel_forecast& way) {
  const auto replicas = [](const model_way& w) { return w.parallel.replicas; };
  return std::ranges::equal(plan.choice.models, way.choice.models, {}, replicas, replicas);
}

double efficiency(const forecast& f) {
  return f.makespan > duration::zero() ? seconds(f.limits.best()) / seconds(f.makespan) : 0;
}

/// "+31.0 MiB".
std::string difference(byte_count now, byte_count then) {
  return then < now ? "-" + to_string(now - then) : "+" + to_string(then - now);
}

std::string rows_of(std::span<const parallel_forecast> ways) {
  text_table t{{{"steps in parallel"},
                {"replicas", right},
                {"waves", right},
                {"shards", right},
                {"makespan", right},
                {"x as fast", right},
                {"bound", right},
                {""},
                {"efficiency", right},
                {"host", right},
                {"", right}}};
  for (const parallel_forecast& w : ways) {
    const bool own = &w == &ways.front();
    t.add({own                             ? "as it is"
           : same_results(ways.front(), w) ? "same results"
                                           : "other results",
           std::to_string(w.choice.asked.parallel.replicas), std::to_string(w.choice.asked.parallel.waves),
           std::to_string(w.shards), to_string(w.expected.makespan), fmt::format("{:.2f}", speed_up(ways.front(), w)),
           to_string(w.expected.limits.best()), w.expected.limits.best_name(),
           fmt::format("{:.0f} %", efficiency(w.expected) * 100), to_string(w.host),
           own ? "" : difference(ways.front().host, w.host)});
  }
  return t.to_string();
}

/// "2 replicas in 4 waves, 8 shards of each model".
std::string name_of(const parallel_forecast& way) {
  const parallel_options& p = way.choice.asked.parallel;
  if (p.replicas == 1 && p.waves == 1) return "no steps in parallel";
  if (p.waves == 1) return counted(p.replicas, "replica");
  std::string waves = counted(p.waves, "wave");
  if (way.choice.asked.shards > 1) waves += fmt::format(", {} shards of each model", way.choice.asked.shards);
  return p.replicas == 1 ? waves : fmt::format("{} in {}", counted(p.replicas, "replica"), waves);
}

std::string sentence(const parallel_forecast& plan, const parallel_forecast& way) {
  return fmt::format("{}: {:.1f} x as fast on these devices, {} of host memory{}\n", name_of(way),
                     speed_up(plan, way), difference(plan.host, way.host),
                     same_results(plan, way) ? "" : "; other results, because replicas decide them");
}

/// The fastest, and the fastest of those with the same results; of those that are hardly slower the first, as "auto".
std::string best_of(std::span<const parallel_forecast> ways) {
  const parallel_forecast& plan = ways.front();
  const parallel_forecast *best = &plan, *same = &plan;
  for (const parallel_forecast& w : ways) {
    if (speed_up(*best, w) >= worth_saying) best = &w;
    if (same_results(plan, w) && speed_up(*same, w) >= worth_saying) same = &w;
  }
  if (speed_up(plan, *best) < worth_saying) return "none of them is faster by more than 2 %\n";
  const bool both = same != best && speed_up(plan, *same) >= worth_saying;
  return sentence(plan, *best) + (both ? sentence(plan, *same) : "");
}

}  // namespace

std::string to_table(std::span<const parallel_forecast> ways) {
  return ways.size() < 2 ? "" : "\n" + rows_of(ways) + best_of(ways);
}

nlohmann::ordered_json parallel_json(std::span<const parallel_forecast> ways) {
  auto all = nlohmann::ordered_json::array();
  for (const parallel_forecast& w : ways)
    all.push_back({{"replicas", w.choice.asked.parallel.replicas},
                   {"waves", w.choice.asked.parallel.waves},
                   {"shards", w.shards},
                   {"makespan_s", seconds(w.expected.makespan)},
                   {"bound_s", seconds(w.expected.limits.best())},
                   {"bound", w.expected.limits.best_name()},
                   {"host_bytes", w.host.value()},
                   {"same_results", same_results(ways.front(), w)}});
  return all;
}

}  // namespace hydra::apps
