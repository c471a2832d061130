#include "apps/simulate/study_page.hpp"

#include "apps/report/markup.hpp"
#include "apps/report/page_parts.hpp"

#include <hydra/version.hpp>

#include <fmt/format.h>

#include <algorithm>
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
  return ratio_cell(cell.of(static_cast<std::size_t>(found - cell.policies.begin())), cell.runs.size() > 1);
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
      "Makespan / best bound", table_of(columns, rows),
      "Mean over the instances of a cell, below it the smallest and the largest. No schedule of any policy can be "
      "below 1; whether 1 can be reached is not known. The yardstick is the makespan if the models did not "
      "disturb each other; it is not a bound.");
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
  return page_of(s.name, remark(s.note) + ratios_section(s) + remarks_section(s), std::string{version});
}

}  // namespace hydra::apps
