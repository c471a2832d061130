#include "apps/simulate/workload_runs.hpp"

#include "apps/workload/assemble.hpp"
#include "apps/workload/search_keys.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <sstream>
#include <utility>

namespace hydra::apps {

namespace {

std::vector<std::string> notes_of(const workload& w, const forecast& f) {
  std::vector<std::string> all;
  if (f.shortened > 1)
    all.push_back(fmt::format("loads, hits and decisions are those of a {}th of the steps", f.shortened));
  if (const auto search = note_on_search(w)) all.push_back(*search);
  return all;
}

/// On the first node, on the first two, ...
std::vector<nodes_forecast> simulate_nodes(session& s, const simulated_nodes& nodes) {
  std::vector<nodes_forecast> all;
  const auto estimates = s.estimates();
  for (std::size_t n = 1; n <= nodes.speeds.size(); ++n) {
    const std::vector<double> speeds(nodes.speeds.begin(), nodes.speeds.begin() + static_cast<std::ptrdiff_t>(n));
    all.push_back({speeds, predict({.models = estimates,
                                    .plan = [&s] { return s.simulated_plan(); },
                                    .speeds = speeds,
                                    .network = nodes.network})});
  }
  return all;
}

}  // namespace

std::vector<double> parse_speeds(const std::string& text) {
  constexpr double least = 0.001, most = 1000;
  constexpr std::size_t most_nodes = 64;
  std::vector<double> speeds;
  std::istringstream in{text};
  for (std::string part; std::getline(in, part, ',');) {
    double speed = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), speed);
    if (error != std::errc{} || end != part.data() + part.size() || !(speed >= least && speed <= most))
      refuse(fmt::format(
          "--nodes {}: \"{}\" is not a speed; expected, for each node, how fast its devices are over those of "
          "the workload, {} to {}: 1,1,0.5",
          text, part, least, most));
    speeds.push_back(speed);
  }
  if (speeds.empty()) refuse("--nodes: no speed is given; expected, for each node, such as 1,1,0.5");
  if (speeds.size() > most_nodes)
    refuse(fmt::format("--nodes: {} nodes, at most {} are simulated", speeds.size(), most_nodes));
  return speeds;
}

comparison simulate_workload(const workload& w, const std::vector<listed_policy>& policies,
                             const simulated_nodes& nodes) {
  session_options quiet = w.options;
  quiet.log = verbosity::quiet;
  quiet.goal = {};  // all devices
  session s{quiet};
  assemble(s, w);
  std::vector<std::unique_ptr<policy>> made;  // all of them before anything is measured
  for (const listed_policy& p : policies) made.push_back(p.make(w.options.seed));
  std::vector<forecast> forecasts;
  for (std::unique_ptr<policy>& p : made) forecasts.push_back(s.predict(std::move(p)));
  comparison c{.name = w.options.name,
               .heading = fmt::format("{}: {}, {}; the actors of the run with the times of the pilot", w.options.name,
                                      counted(w.models.size(), "model"), counted(s.devices().size(), "device")),
               .limits = forecasts.front().limits.all(),
               .rows = {},
               .currency = w.options.terms.currency,
               .notes = notes_of(w, forecasts.front())};
  for (std::size_t i = 0; i < forecasts.size(); ++i) {
    c.rows.push_back(row_of(policies[i].name, forecasts[i]));
    c.rows.back().spent = forecasts[i].spent.all;
  }
  c.parallel = s.compare_parallel();
  c.nodes = simulate_nodes(s, nodes);
  return c;
}

}  // namespace hydra::apps
