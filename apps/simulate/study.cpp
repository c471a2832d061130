#include "apps/simulate/study.hpp"

#include "actors/simulation/solo_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace hydra::apps {

namespace {

std::string driver_name(const driver_options& o) {
  if (o.driver == simulation_driver::actors) return "actors";
  return o.completion == completion_rule::written_back ? "loop, landed" : "loop";
}

/// Each instance is made once for all drivers.
std::vector<cell_result> run_cell(const study_cell& cell, const std::vector<driver_options>& drivers) {
  std::vector<cell_result> results;
  for (const driver_options& d : drivers)
    results.push_back({cell.name, cell.note, driver_name(d), names_of(cell.policies), {}});
  for (std::size_t i = 0; i < count_instances(cell); ++i) {
    const schedule_instance instance = instance_of(cell, i);
    const duration yardstick = yardstick_of(instance).best();
    for (std::size_t d = 0; d < drivers.size(); ++d)
      results[d].runs.push_back(
          located(cell.where, "cell", [&] { return compare(instance, cell.policies, drivers[d], yardstick); }));
  }
  return results;
}

template <class Time>
ratio_summary summary_of(const std::vector<comparison>& runs, Time time) {
  ratio_summary s{.mean = 0, .least = std::numeric_limits<double>::infinity(), .most = 0};
  for (const comparison& c : runs) {
    const double ratio = c.ratio(time(c));
    s.mean += ratio / static_cast<double>(runs.size());
    s.least = std::min(s.least, ratio);
    s.most = std::max(s.most, ratio);
  }
  return s;
}

}  // namespace

ratio_summary cell_result::of(std::size_t policy) const {
  return summary_of(runs, [&](const comparison& c) { return c.rows.at(policy).makespan; });
}

ratio_summary cell_result::yardstick() const {
  return summary_of(runs, [](const comparison& c) { return c.yardstick.value_or(duration::zero()); });
}

std::vector<std::string> remarks_of(const study_result& s) {
  std::vector<std::string> lines;
  for (const cell_result& cell : s.cells)
    for (const comparison& c : cell.runs)
      for (const policy_row& r : c.rows)
        for (const std::string& each : remarks_of(r))
          lines.push_back(fmt::format("{}, {}, {}: {}", cell.name, c.name, cell.driver, each));
  return lines;
}

study_result run_study(const study& s, const std::function<void(const std::string&)>& reported) {
  study_result result{s.name, s.note, s.policies(), {}};
  for (std::size_t i = 0; i < s.cells.size(); ++i) {
    const study_cell& cell = s.cells[i];
    reported(fmt::format("cell {} of {}: {}, {} instances", i + 1, s.cells.size(), cell.name, count_instances(cell)));
    std::ranges::move(run_cell(cell, s.drivers), std::back_inserter(result.cells));
  }
  return result;
}

}  // namespace hydra::apps
