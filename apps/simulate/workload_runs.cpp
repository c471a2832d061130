#include "apps/simulate/workload_runs.hpp"

#include "apps/simulate/forecast_row.hpp"
#include "apps/workload/assemble.hpp"
#include "runtime/base/counted.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace hydra::apps {

namespace {

std::string note_of(const forecast& f) {
  if (f.shortened <= 1) return "";
  return fmt::format("loads, hits and decisions are those of a {}th of the steps", f.shortened);
}

}  // namespace

comparison simulate_workload(const workload& w, const std::vector<listed_policy>& policies) {
  session_options quiet = w.options;
  quiet.log = verbosity::quiet;
  session s{quiet};
  assemble(s, w);
  std::vector<std::unique_ptr<policy>> made;
  for (const listed_policy& p : policies) made.push_back(p.make(w.options.seed));
  const std::vector<forecast> forecasts = s.predict(std::move(made));
  comparison c{.name = w.options.name,
               .heading = fmt::format("{}: {}, {}; the actors of the run with the times of the pilot",
                                      w.options.name, counted(w.models.size(), "model"), counted(s.devices().size(), "device")),
               .limits = forecasts.front().limits.all(),
               .rows = {},
               .note = note_of(forecasts.front())};
  for (std::size_t i = 0; i < forecasts.size(); ++i) c.rows.push_back(row_of(policies[i].name, forecasts[i]));
  c.parallel = s.compare_parallel();
  return c;
}

}  // namespace hydra::apps
