#include "apps/simulate/memory_table.hpp"

#include "actors/report/text_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>

namespace hydra::apps {

namespace {

using enum alignment;

/// None where no backward visit has a forward of its own: of models of one shard.
std::optional<double> saved_share(const forecast& f) {
  const auto all = f.saved + f.recomputed;
  return all > 0 ? std::optional(static_cast<double>(f.saved) / static_cast<double>(all)) : std::nullopt;
}

std::string percent_of(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f} %", *share * 100) : "-";
}

double speed_up(const memory_forecast& now, const memory_forecast& then) {
  const double took = seconds(then.expected.makespan);
  return took > 0 ? seconds(now.expected.makespan) / took : 1;
}

}  // namespace

std::string to_table(std::span<const memory_forecast> all) {
  if (all.empty() || all.front().expected.recomputed == 0) return "";
  text_table t{{{"device memory", right},
                {"", right},
                {"shards", right},
                {"saved", right},
                {"makespan", right},
                {"x as fast", right}}};
  for (const memory_forecast& m : all)
    t.add({to_string(m.memory), m.times == 1 ? "as it is" : fmt::format("x {:g}", m.times), std::to_string(m.shards),
           percent_of(saved_share(m.expected)), to_string(m.expected.makespan),
           fmt::format("{:.2f}", speed_up(all.front(), m))});
  return "\n" + t.to_string() + "saved: share of the forwards of backward visits that need not be computed again\n";
}

nlohmann::ordered_json memory_json(std::span<const memory_forecast> all) {
  auto list = nlohmann::ordered_json::array();
  for (const memory_forecast& m : all) {
    const auto saved = saved_share(m.expected);
    list.push_back({{"memory_bytes", m.memory.value()},
                    {"times", m.times},
                    {"shards", m.shards},
                    {"saved", saved ? nlohmann::ordered_json(*saved) : nullptr},
                    {"makespan_s", seconds(m.expected.makespan)}});
  }
  return list;
}

}  // namespace hydra::apps
