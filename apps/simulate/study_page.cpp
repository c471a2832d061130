#include "apps/simulate/study_page.hpp"

#include "apps/report/markup.hpp"
#include "apps/report/page_parts.hpp"
#include "apps/simulate/study_chart.hpp"

#include <hydra/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace hydra::apps {

namespace {

/// The further from the bound, the redder; 1.5 times the bound is the reddest.
std::string shade(double ratio) {
  constexpr double reddest = 0.5;
  const double excess = std::clamp((ratio - 1) / reddest, 0.0, 1.0);
  return fmt::format("hsla({:.0f},70%,50%,{:.2f})", 120 * (1 - excess), 0.12 + 0.25 * excess);
}

std::string ratio_cell(const ratio_summary& s, bool several) {
  const std::string range = several ? fmt::format("<br/><small>{:.3f} to {:.3f}</small>", s.least, s.most) : "";
  return fmt::format(
      "<span style=\"display:block;padding:1px 6px;border-radius:4px;background:{}\"><b>{:.3f}</b>{}</span>",
      shade(s.mean), s.mean, range);
}

std::string cell_of(const cell_result& cell, const std::string& policy) {
  const auto found = std::ranges::find(cell.policies, policy);
  if (found == cell.policies.end()) return "-";
  const auto at = static_cast<std::size_t>(found - cell.policies.begin());
  const bool proven = std::ranges::all_of(
      cell.runs, [at](const comparison& c) { return c.rows.at(at).proven.value_or(false); });
  return ratio_cell(cell.of(at), cell.runs.size() > 1) + (proven ? "<br/><small>proven</small>" : "");
}

std::string name_of(const cell_result& cell) {
  return escaped(cell.name) + (cell.note.empty() ? "" : fmt::format("<br/><small>{}</small>", escaped(cell.note)));
}

/// The bounds that were the best for some instance.
std::string bounds_of(const cell_result& cell) {
  std::set<std::string> names;
  for (const comparison& c : cell.runs) names.insert(c.best().name);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return escaped(text);
}

std::string ratios_section(const study_result& s) {
  std::vector<column> columns{{"cell"}, {"driver"}, {"instances", true}, {"best bound"}};
  for (const std::string& p : s.policies) columns.push_back({p, true});
  columns.push_back({"yardstick", true});
  std::string rows;
  for (const cell_result& cell : s.cells) {
    std::vector<std::string> cells{name_of(cell), escaped(cell.driver), std::to_string(cell.runs.size()),
                                   bounds_of(cell)};
    for (const std::string& p : s.policies) cells.push_back(cell_of(cell, p));
    cells.push_back(ratio_cell(cell.yardstick(), cell.runs.size() > 1));
    rows += row_of(columns, cells);
  }
  return section(
      "Makespan / best bound", ratio_chart(s) + table_of(columns, rows),
      "Mean over the instances of a cell, below it the smallest and the largest. No schedule of any policy can be "
      "below 1; whether 1 can be reached is not known, except where exact has proven its schedule: no policy is better "
      "than that. The yardstick is the makespan if the models did not disturb each other; it is not a bound.");
}

/// Of a policy, over all instances of a cell.
std::optional<simulated_completions> mean_completions(const cell_result& cell, std::size_t policy) {
  simulated_completions sum;
  for (const comparison& c : cell.runs) {
    const auto& each = c.rows.at(policy).completions;
    if (!each) return std::nullopt;
    sum.mean += each->mean;
    sum.weighted += each->weighted;
    sum.tardiness += each->tardiness;
    sum.deadlines += each->deadlines;
    sum.missed += each->missed;
  }
  const auto runs = static_cast<duration::rep>(cell.runs.size());
  sum.mean /= runs;
  sum.weighted /= runs;
  sum.tardiness /= runs;
  return sum;
}

std::string completions_section(const study_result& s) {
  const std::vector<column> columns{{"cell"},           {"policy"},       {"mean completion", true},
                                    {"weighted", true}, {"missed", true}, {"tardiness", true}};
  std::string rows;
  for (const cell_result& cell : s.cells)
    for (std::size_t p = 0; p < cell.policies.size(); ++p)
      if (const auto c = mean_completions(cell, p))
        rows += row_of(columns, {name_of(cell), escaped(cell.policies[p]), hydra::to_string(c->mean),
                                 hydra::to_string(c->weighted),
                                 c->deadlines == 0 ? "-" : fmt::format("{} of {}", c->missed, c->deadlines),
                                 c->deadlines == 0 ? "-" : hydra::to_string(c->tardiness)});
  return rows.empty() ? ""
                      : section("Completions", table_of(columns, rows),
                                "Of models with arrivals, priorities or deadlines: mean time from arrival to "
                                "completion, the same weighted by priority; deadlines missed in all instances, and the "
                                "mean time after the deadline, 0 for models that meet theirs.");
}

std::string remark(const std::string& note) {
  return note.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
}

std::string remarks_section(const study_result& s) {
  std::string items;
  for (const std::string& each : remarks_of(s)) items += remark(each);
  return items.empty() ? "" : section("Remarks", items);
}

}  // namespace

std::string to_page(const study_result& s) {
  const std::string sections = ratios_section(s) + completions_section(s) + remarks_section(s);
  return page_of(s.name, remark(s.note) + sections, std::string{version});
}

}  // namespace hydra::apps
