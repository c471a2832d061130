#include "apps/simulate/study_output.hpp"

#include "actors/report/text_table.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace hydra::apps {

namespace {

using json = nlohmann::ordered_json;

bool has_several_drivers(const study_result& s) {
  return std::ranges::any_of(s.cells, [&](const cell_result& c) { return c.driver != s.cells.front().driver; });
}

/// As RFC 4180 has it.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string{"\"\""} : std::string{c};
  return out + "\"";
}

std::string with_nanoseconds(duration d) { return fmt::format("{}.{:03}", d.count() / 1000, d.count() % 1000); }

/// Empty fields where it does not apply.
std::string completions_csv(const std::optional<simulated_completions>& c) {
  if (!c) return ",,,,";
  const std::string all = fmt::format("{},{},", with_nanoseconds(c->mean), with_nanoseconds(c->weighted));
  if (c->deadlines == 0) return all + ",,";
  return all + fmt::format("{},{},{}", c->deadlines, c->missed, with_nanoseconds(c->tardiness));
}

std::string expense_csv(const expense& e) {
  return (e.cost ? hydra::to_string(*e.cost) : "") + "," + (e.joules ? std::to_string(*e.joules) : "");
}

std::string csv_line(const cell_result& cell, const comparison& c, const policy_row& r) {
  return fmt::format("{},{},{},{},{},{},{},{:.6f},{},{},{},{},{},{},{},{}\n", quoted(cell.name), quoted(c.name),
                     quoted(cell.driver), quoted(r.policy), with_nanoseconds(r.makespan), c.best().name,
                     with_nanoseconds(c.best().value), c.ratio(r.makespan), with_nanoseconds(r.compute_end), r.loads,
                     r.hits, r.decisions, quoted(fmt::format("{}", fmt::join(r.replacements, "; "))),
                     !r.proven ? "" : *r.proven ? "yes" : "no", completions_csv(r.completions), expense_csv(r.spent));
}

json json_of(const ratio_summary& s) { return {{"mean", s.mean}, {"min", s.least}, {"max", s.most}}; }

json json_of(const cell_result& cell) {
  json j{{"name", cell.name},          {"driver", cell.driver}, {"instances", cell.runs.size()},
         {"policies", json::object()}, {"yardstick", {}},       {"runs", {}}};
  for (std::size_t p = 0; p < cell.policies.size(); ++p) j["policies"][cell.policies[p]] = json_of(cell.of(p));
  j["yardstick"] = json_of(cell.yardstick());
  for (const comparison& c : cell.runs) j["runs"].push_back(json_of(c));
  return j;
}

std::string mean_of(const cell_result& cell, const std::string& policy) {
  const auto found = std::ranges::find(cell.policies, policy);
  if (found == cell.policies.end()) return "-";
  return fmt::format("{:.3f}", cell.of(static_cast<std::size_t>(found - cell.policies.begin())).mean);
}

}  // namespace

std::string to_table(const study_result& s) {
  const bool drivers = has_several_drivers(s);
  std::vector<table_column> columns{{"cell"}};
  if (drivers) columns.push_back({"driver"});
  for (const std::string& p : s.policies) columns.push_back({p, alignment::right});
  columns.push_back({"yardstick", alignment::right});
  text_table t{columns};
  for (const cell_result& cell : s.cells) {
    std::vector<std::string> cells{cell.name};
    if (drivers) cells.push_back(cell.driver);
    for (const std::string& p : s.policies) cells.push_back(mean_of(cell, p));
    cells.push_back(fmt::format("{:.3f}", cell.yardstick().mean));
    t.add(std::move(cells));
  }
  std::string text = t.to_string();
  for (const std::string& each : remarks_of(s)) text += each + "\n";
  return text;
}

std::string to_csv(const study_result& s) {
  std::string text =
      "cell,instance,driver,policy,makespan_us,bound,bound_us,ratio,compute_end_us,loads,hits,decisions,replaced,"
      "proven,mean_completion_us,weighted_completion_us,deadlines,missed_deadlines,mean_tardiness_us,cost,joules\n";
  for (const cell_result& cell : s.cells)
    for (const comparison& c : cell.runs)
      for (const policy_row& r : c.rows) text += csv_line(cell, c, r);
  return text;
}

std::string to_json(const study_result& s) {
  json j{{"name", s.name}, {"policies", s.policies}, {"cells", json::array()}};
  for (const cell_result& cell : s.cells) j["cells"].push_back(json_of(cell));
  return json_text(j, 2) + "\n";
}

}  // namespace hydra::apps
