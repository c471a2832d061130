#include "apps/simulate/nodes_table.hpp"

#include "actors/report/text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace hydra::apps {

namespace {

using enum alignment;

double ratio(duration a, duration b) { return b > duration::zero() ? seconds(a) / seconds(b) : 1; }

}  // namespace

std::string to_table(std::span<const nodes_forecast> all) {
  if (all.empty()) return "";
  text_table t{{{"nodes", right},
                {"their speeds"},
                {"makespan", right},
                {"x as fast", right},
                {"/ bound", right},
                {"moves", right},
                {"moved", right},
                {"in transit", right}}};
  for (const nodes_forecast& n : all) {
    const cluster_forecast& f = n.expected;
    t.add({std::to_string(n.speeds.size()), fmt::format("{}", fmt::join(n.speeds, ", ")), to_string(f.makespan),
           fmt::format("{:.2f}", ratio(all.front().expected.makespan, f.makespan)),
           fmt::format("{:.3f}", ratio(f.makespan, f.limits.best())), std::to_string(f.moves), to_string(f.moved),
           to_string(f.transit)});
  }
  return "\n" + t.to_string();
}

nlohmann::ordered_json nodes_json(std::span<const nodes_forecast> all) {
  auto rows = nlohmann::ordered_json::array();
  for (const nodes_forecast& n : all)
    rows.push_back({{"speeds", n.speeds},
                    {"makespan_s", seconds(n.expected.makespan)},
                    {"bound_s", seconds(n.expected.limits.best())},
                    {"moves", n.expected.moves},
                    {"moved_bytes", n.expected.moved.value()},
                    {"transit_s", seconds(n.expected.transit)}});
  return rows;
}

}  // namespace hydra::apps
