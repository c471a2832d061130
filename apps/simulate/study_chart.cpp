#include "apps/simulate/study_chart.hpp"

#include "apps/report/axis.hpp"
#include "apps/report/chart_parts.hpp"
#include "apps/report/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace hydra::apps {

namespace {

constexpr double width = 960, left_margin = 330, right_margin = 16, top = 4, row = 16;
constexpr double most_shown = 2;

double largest_of(const study_result& s) {
  double largest = 1;
  for (const cell_result& cell : s.cells)
    for (std::size_t p = 0; p < cell.policies.size(); ++p) largest = std::max(largest, cell.of(p).mean);
  return largest;
}

std::size_t place_of(const study_result& s, const std::string& policy) {
  return static_cast<std::size_t>(std::ranges::find(s.policies, policy) - s.policies.begin());
}

std::string dots(const study_result& s, const cell_result& cell, const axis& ratio, double y) {
  std::string out;
  for (std::size_t p = 0; p < cell.policies.size(); ++p) {
    const double mean = cell.of(p).mean;
    out += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"4\" fill=\"{}\"><title>{}: {:.3f}</title></circle>\n",
                       coordinate(ratio.at(mean)), coordinate(y), colour_of(place_of(s, cell.policies[p])),
                       escaped(cell.policies[p]), mean);
  }
  return out;
}

/// With its driver where a study has several.
std::string label_of(const study_result& s, const cell_result& cell) {
  const bool same = std::ranges::all_of(s.cells, [&](const cell_result& c) { return c.driver == cell.driver; });
  return same ? cell.name : cell.name + ", " + cell.driver;
}

std::string legend_of(const study_result& s) {
  std::vector<legend_entry> entries;
  for (std::size_t p = 0; p < s.policies.size(); ++p) entries.push_back({colour_of(p), s.policies[p]});
  return legend(entries);
}

}  // namespace

std::string ratio_chart(const study_result& s) {
  if (s.cells.empty()) return "";
  const axis ratio{1, std::min(std::max(largest_of(s), 1.05), most_shown), left_margin, width - right_margin};
  const double bottom = top + row * static_cast<double>(s.cells.size());
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"makespan / best bound\">\n",
                                width, coordinate(bottom + grid_footer));
  out += vertical_grid(ratio, bottom, "makespan / best bound");
  for (std::size_t i = 0; i < s.cells.size(); ++i) {
    const double y = top + row * (static_cast<double>(i) + 0.5);
    out += svg_text(left_margin - 8, y + 4, "end", label_of(s, s.cells[i])) + dots(s, s.cells[i], ratio, y);
  }
  return out + "</svg>\n" + legend_of(s);
}

}  // namespace hydra::apps
