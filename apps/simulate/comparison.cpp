#include "apps/simulate/comparison.hpp"

#include "actors/report/expense_json.hpp"
#include "actors/report/expense_table.hpp"
#include "actors/report/text_table.hpp"
#include "apps/simulate/parallel_table.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace hydra::apps {

namespace {

using json = nlohmann::ordered_json;

using enum alignment;

/// Whole microseconds as an integer, others with their nanoseconds.
json microseconds(duration d) {
  if (d.count() % 1000 == 0) return d.count() / 1000;
  return static_cast<double>(d.count()) / 1e3;
}

json json_of(const comparison& c, const policy_row& r) {
  json row{{"policy", r.policy},
           {"makespan_us", microseconds(r.makespan)},
           {"bound", c.best().name},
           {"bound_us", microseconds(c.best().value)},
           {"ratio", c.ratio(r.makespan)},
           {"compute_end_us", microseconds(r.compute_end)},
           {"loads", r.loads},
           {"hits", r.hits},
           {"decisions", r.decisions}};
  if (r.completions) {
    row["mean_completion_us"] = microseconds(r.completions->mean);
    row["weighted_completion_us"] = microseconds(r.completions->weighted);
  }
  if (r.completions && r.completions->deadlines > 0) {
    row["deadlines"] = r.completions->deadlines;
    row["missed_deadlines"] = r.completions->missed;
    row["mean_tardiness_us"] = microseconds(r.completions->tardiness);
  }
  add_expense(row, r.spent);
  if (r.proven) row["proven"] = *r.proven;
  if (!r.replacements.empty()) row["replacements"] = r.replacements;
  return row;
}

/// Columns that only some comparisons have: behind those that all have.
std::vector<table_column> completion_columns(const comparison& c) {
  const auto first = c.rows.empty() ? std::nullopt : c.rows.front().completions;
  if (!first) return {};
  if (first->deadlines == 0) return {{"mean completion", right}, {"weighted", right}};
  return {{"mean completion", right}, {"weighted", right}, {"missed", right}, {"tardiness", right}};
}

std::vector<std::string> completion_cells(const policy_row& r) {
  if (!r.completions) return {};
  std::vector<std::string> cells{to_string(r.completions->mean), to_string(r.completions->weighted)};
  if (r.completions->deadlines > 0) {
    cells.push_back(fmt::format("{} of {}", r.completions->missed, r.completions->deadlines));
    cells.push_back(to_string(r.completions->tardiness));
  }
  return cells;
}

/// What the first row knows, all know.
std::vector<table_column> expense_columns(const comparison& c) {
  std::vector<table_column> columns;
  if (!c.rows.empty() && c.rows.front().spent.cost) columns.push_back({cost_title(c.currency), right});
  if (!c.rows.empty() && c.rows.front().spent.joules) columns.push_back({"energy (kJ)", right});
  return columns;
}

std::vector<std::string> expense_cells(const policy_row& r) {
  std::vector<std::string> cells;
  if (r.spent.cost) cells.push_back(to_string(*r.spent.cost));
  if (r.spent.joules) cells.push_back(energy_text(*r.spent.joules));
  return cells;
}

std::string rows_of(const comparison& c) {
  std::vector<table_column> columns{{"policy"},       {"makespan", right}, {"/ bound", right},
                                    {"loads", right}, {"hits", right},     {"decisions", right}};
  std::ranges::copy(completion_columns(c), std::back_inserter(columns));
  std::ranges::copy(expense_columns(c), std::back_inserter(columns));
  text_table t{columns};
  for (const policy_row& r : c.rows) {
    std::vector<std::string> cells{r.policy + (r.proven == true ? " (proven)" : ""),
                                   to_string(r.makespan),
                                   fmt::format("{:.3f}", c.ratio(r.makespan)),
                                   std::to_string(r.loads),
                                   std::to_string(r.hits),
                                   std::to_string(r.decisions)};
    std::ranges::copy(completion_cells(r), std::back_inserter(cells));
    std::ranges::copy(expense_cells(r), std::back_inserter(cells));
    t.add(std::move(cells));
  }
  return t.to_string();
}

std::string bounds_line(const comparison& c) {
  std::vector<std::string> parts;
  std::ranges::transform(c.limits, std::back_inserter(parts),
                         [](const bounds::named& b) { return b.name + " " + to_string(b.value); });
  const std::string yardstick = c.yardstick ? fmt::format("; yardstick {} (no bound)", to_string(*c.yardstick)) : "";
  return fmt::format("bounds: {}; best: {}{}\n", fmt::join(parts, ", "), c.best().name, yardstick);
}

std::string remark_lines(const comparison& c) {
  std::string text;
  for (const policy_row& r : c.rows)
    for (const std::string& each : remarks_of(r)) text += each + "\n";
  return text;
}

std::string note_lines(const comparison& c) {
  std::string text;
  for (const std::string& each : c.notes) text += each + "\n";
  return text;
}

std::string measured_line(const comparison& c) {
  if (!c.measured) return "";
  const std::string spent = expense_line(c.measured_spent, {.currency = c.currency});
  const std::string took = fmt::format("the run took {} with {}{}", to_string(*c.measured), c.ran,
                                       spent.empty() ? "" : ", " + spent);
  const auto own = std::ranges::find(c.rows, c.ran, &policy_row::policy);
  if (own == c.rows.end()) return took + "\n";
  const double share = seconds(own->makespan) / seconds(*c.measured) - 1;
  return fmt::format("{}; simulated, {} ({:+.1f} %)\n", took, to_string(own->makespan), share * 100);
}

}  // namespace

std::vector<std::string> remarks_of(const policy_row& r) {
  std::vector<std::string> remarks = r.replacements;
  if (r.proven == false)
    remarks.push_back(r.policy + ": the best schedule that was found; the search ended without a proof");
  return remarks;
}

const bounds::named& comparison::best() const { return *std::ranges::max_element(limits, {}, &bounds::named::value); }

double comparison::ratio(duration makespan) const {
  return best().value > duration::zero() ? seconds(makespan) / seconds(best().value) : 1;
}

std::string to_table(const comparison& c) {
  return c.heading + "\n" + rows_of(c) + bounds_line(c) + measured_line(c) + remark_lines(c) + note_lines(c) +
         to_table(c.parallel) + to_table(c.nodes);
}

json json_of(const comparison& c) {
  json j{{"name", c.name}, {"bounds_us", json::object()}, {"rows", json::array()}};
  for (const bounds::named& b : c.limits) j["bounds_us"][b.name] = microseconds(b.value);
  for (const policy_row& r : c.rows) j["rows"].push_back(json_of(c, r));
  if (c.yardstick) j["yardstick_us"] = microseconds(*c.yardstick);
  if (!c.notes.empty()) j["notes"] = c.notes;
  if (c.measured) j["measured_us"] = microseconds(*c.measured);
  if (c.measured_spent != expense{}) j["measured_expense"] = hydra::json_of(c.measured_spent);
  if (!c.currency.empty()) j["currency"] = c.currency;
  if (c.parallel.size() > 1) j["parallel"] = parallel_json(c.parallel);
  if (!c.nodes.empty()) j["nodes"] = nodes_json(c.nodes);
  return j;
}

std::string to_json(const comparison& c) { return json_text(json_of(c), 2) + "\n"; }

}  // namespace hydra::apps
