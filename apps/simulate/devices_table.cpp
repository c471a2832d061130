#include "apps/simulate/devices_table.hpp"

#include "actors/report/expense_json.hpp"
#include "actors/report/expense_table.hpp"
#include "actors/report/text_table.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <vector>

namespace hydra::apps {

namespace {

using enum alignment;

std::string remark(const device_choice& c, const run_goal& goal) {
  if (!c.expected) return "does not fit";
  return is_in_time(c, goal) ? "" : "too late";
}

std::string text(const std::optional<money>& m) { return m ? hydra::to_string(*m) : "-"; }
std::string text(const std::optional<std::int64_t>& joules) { return joules ? energy_text(*joules) : "-"; }

std::vector<std::string> row_of(const device_choice& c, const device_choices& choices, const run_goal& goal) {
  const std::string name = to_text(c, choices.classes);
  if (!c.expected) return {name, "-", "-", "-", "-", "-", "-", "-", remark(c, goal)};
  const expense& all = c.expected->spent.all;
  return {name,
          to_string(c.expected->makespan),
          to_string(c.expected->limits.best()),
          clock_text(all.time),
          text(all.cost),
          text(c.least.cost),
          text(all.joules),
          text(c.least.joules),
          remark(c, goal)};
}

}  // namespace

std::string to_table(const device_choices& choices, const run_goal& goal, const std::string& currency) {
  if (choices.all.size() < 2) return "";
  text_table t{{{"devices"},
                {"makespan", right},
                {"bound", right},
                {"device time", right, 1},
                {cost_title(currency), right},
                {"least cost", right, goal.least == run_objective::energy ? 3 : 2},
                {"energy (kJ)", right},
                {"least energy", right, goal.least == run_objective::energy ? 2 : 3},
                {""}}};
  for (const std::size_t i : best_first(choices.all, goal)) t.add(row_of(choices.all[i], choices, goal));
  const std::string some = choices.complete ? "" : "not all choices are compared\n";
  return "\n" + t.fitted() + some;
}

nlohmann::ordered_json devices_json(const device_choices& choices, const run_goal& goal) {
  auto list = nlohmann::ordered_json::array();
  for (const std::size_t i : best_first(choices.all, goal)) {
    const device_choice& c = choices.all[i];
    nlohmann::ordered_json row{{"devices", to_text(c, choices.classes)}, {"counts", c.counts}};
    if (c.expected) {
      row["makespan_s"] = seconds(c.expected->makespan);
      row["bound_s"] = seconds(c.expected->limits.best());
      row.update(json_of(c.expected->spent.all));
      if (c.least.cost) row["least_cost"] = amount_of(*c.least.cost);
      if (c.least.joules) row["least_joules"] = *c.least.joules;
      row["in_time"] = is_in_time(c, goal);
    } else {
      row["refused"] = c.refused;
    }
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace hydra::apps
