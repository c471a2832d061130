#include "apps/report/page.hpp"

#include "actors/report/number_text.hpp"
#include "actors/report/report_table.hpp"
#include "actors/report/search_table.hpp"
#include "apps/report/device_charts.hpp"
#include "apps/report/loss_chart.hpp"
#include "apps/report/markup.hpp"
#include "apps/report/page_parts.hpp"
#include "apps/report/result.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/regular_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace hydra::apps {

namespace {

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.0f} %", share * 100) : "-"; }

/// "-" for values that are not finite: they were not measured.
std::string number(double x) { return std::isfinite(x) ? fmt::format("{:.4f}", x) : "-"; }

/// "-" for 0: a count that every model has is then unknown.
std::string count(auto n) { return n > 0 ? std::to_string(n) : "-"; }

std::string swatch(std::size_t model) { return fmt::format("<i style=\"background:{}\"></i>", colour_of(model)); }

// -- models -----------------------------------------------------------------------------------------------------------

const validation_report* last_validation(const recorded_run& run, std::size_t model) {
  const auto& all = run.summary.models[model].validation;
  return all.empty() ? nullptr : &all.back();
}

double last_loss(const model_report& m) { return m.loss.empty() ? std::nan("") : static_cast<double>(m.loss.back()); }

/// Of a search; null for a model that is none.
const ranked_trial* trial_of(const recorded_run& run, std::size_t model) {
  return find_trial(run.search, run.summary.models[model].name);
}

std::string quality(const validation_report& v) {
  const std::string perplexity = v.perplexity ? "perplexity " + number_text(*v.perplexity, 2) : "";
  const std::string accuracy = v.accuracy ? "accuracy " + percent(*v.accuracy) : "";
  return perplexity + (perplexity.empty() || accuracy.empty() ? "" : ", ") + accuracy;
}

std::string validation_cell(const validation_report* v) {
  if (!v) return "-";
  const std::string floor = v->floor ? fmt::format(" (floor {})", number(*v->floor)) : "";
  return escaped(number(v->loss) + floor);
}

std::string status_of(const model_report& m, const ranked_trial* trial) {
  if (trial && m.status != model_status::failed) return escaped(outcome(m, *trial));
  const std::string status = status_text(m);
  if (!m.error) return escaped(status);
  const std::string text = fmt::format("{}: {}: {}", status, to_string(m.error.code), m.error.text);
  return fmt::format("<span class=\"fault\">{}</span>", escaped(text));
}

/// "4, 2 replicas, 8 waves (bubble 11 %)": the shards, and how steps are divided.
std::string shards_cell(const model_report& m) {
  std::string text = count(m.cuts.size());
  if (m.replicas > 1) text += fmt::format(", {} replicas", m.replicas);
  if (m.waves > 1) text += fmt::format(", {} waves (bubble {})", m.waves, percent(bubble_share(m.pipeline)));
  return text;
}

/// Those that are trained, of all if some are frozen.
std::string parameters_cell(const model_report& m) {
  const std::string all = count(m.parameters);
  return m.frozen_parameters == 0 ? all : fmt::format("{} of {}", count(m.parameters - m.frozen_parameters), all);
}

std::vector<column> model_columns(const std::vector<std::string>& keys) {
  std::vector<column> columns{{"model"}};
  for (const std::string& key : key_titles(keys)) columns.push_back({key, true});
  columns.insert(columns.end(), {{"steps", true},
                                 {"loss", true},
                                 {"validation", true},
                                 {"status"},
                                 {"quality"},
                                 {"tokens/s", true},
                                 {"family"},
                                 {"parameters", true},
                                 {"shards", true}});
  return columns;
}

std::string order_note(const recorded_run& run) {
  if (run.search.trials.empty()) return "Best first, by validation loss if there is one.";
  return "Best first; after different numbers of steps scores do not compare. " + run.search.rule + "; " +
         search_cost(run.summary, run.search) + ".";
}

std::string models_section(const recorded_run& run) {
  const std::vector<std::string> keys = varied_keys(run.search);
  const std::vector<column> columns = model_columns(keys);
  std::string rows;
  for (const std::size_t i : best_first(run)) {
    const model_report& m = run.summary.models[i];
    const auto* v = last_validation(run, i);
    const ranked_trial* const trial = trial_of(run, i);
    std::vector<std::string> cells{swatch(i) + escaped(m.name)};
    for (const std::string& value : value_cells(keys, trial ? *trial : ranked_trial{})) cells.push_back(escaped(value));
    cells.insert(cells.end(), {std::to_string(m.steps), number(last_loss(m)), validation_cell(v), status_of(m, trial),
                               v ? escaped(quality(*v)) : "", tokens_per_second(m), escaped(m.family),
                               parameters_cell(m), shards_cell(m)});
    rows += row_of(columns, cells);
  }
  return rows.empty() ? "" : section("Models", table_of(columns, rows), order_note(run));
}

// -- curves -----------------------------------------------------------------------------------------------------------

constexpr std::size_t most_curves = 60;  // more cannot be distinguished

loss_curve curve_of(const recorded_run& run, std::size_t model) {
  loss_curve c{run.summary.models[model].name, model, run.summary.models[model].loss, {}};
  for (const validation_report& v : run.summary.models[model].validation)
    c.validation.push_back({double(v.step), v.loss});
  return c;
}

std::string curve_legend(const std::vector<loss_curve>& curves) {
  std::string out = "<p class=\"legend\">";
  for (const loss_curve& c : curves) out += fmt::format("<span>{}{}</span> ", swatch(c.colour), escaped(c.name));
  return out + "</p>\n";
}

std::string curves_section(const recorded_run& run) {
  std::vector<loss_curve> curves;
  for (const std::size_t i : best_first(run))
    if (curves.size() < most_curves) curves.push_back(curve_of(run, i));
  const std::string chart = loss_chart(curves);
  if (chart.empty()) return "";
  const bool all = curves.size() == run.summary.models.size();
  return section("Loss", chart + curve_legend(curves),
                 "Lines: training loss of each step; points: validation." +
                     (all ? "" : fmt::format(" The best {} models of {}.", most_curves, run.summary.models.size())));
}

// -- devices ----------------------------------------------------------------------------------------------------------

std::string devices_section(const recorded_run& run) {
  const std::vector<column> columns{
      {"device"},    {"kind"},      {"speed", true},      {"utilisation", true},   {"busy", true},
      {"h2d", true}, {"d2h", true}, {"cache hits", true}, {"saved", true}, {"peak / budget", true}, {""}};
  const double makespan = seconds(run.summary.makespan);
  std::string rows;
  for (const device_report& d : run.summary.devices)
    rows += row_of(columns, {escaped(d.name), escaped(d.kind), fmt::format("{:g}", d.speed),
                             makespan > 0 ? percent(seconds(d.busy) / makespan) : "-", to_string(d.busy),
                             to_string(d.h2d_bytes), to_string(d.d2h_bytes), hit_rate(d), saved_rate(d),
                             to_string(d.peak) + " / " + to_string(d.budget), d.lost ? "lost" : ""});
  return rows.empty() ? "" : section("Devices", table_of(columns, rows));
}

/// Of a cluster.
std::string nodes_section(const recorded_run& run) {
  const report& r = run.summary;
  if (r.cluster.nodes.empty()) return "";
  std::vector<column> columns;
  for (const std::string& title : node_titles(r)) columns.push_back({title, !columns.empty() && !title.empty()});
  std::string rows;
  for (const node_report& n : r.cluster.nodes) {
    std::vector<std::string> cells = node_cells(r, n);
    std::ranges::transform(cells, cells.begin(), escaped);
    rows += row_of(columns, cells);
  }
  return section("Nodes", table_of(columns, rows), "Network: " + network_text(r.cluster) + ".");
}

std::string bounds_section(const recorded_run& run) {
  const std::vector<column> columns{{"bound"}, {"time", true}, {"of the makespan", true}};
  const double makespan = seconds(run.summary.makespan);
  std::string rows;
  const bool on_nodes = !run.summary.cluster.nodes.empty();  // what only they know is 0
  for (const named_seconds& b : run.bounds)
    if (!on_nodes || b.seconds > 0)
      rows += row_of(columns, {escaped(b.name), fmt::format("{:.3f} s", b.seconds),
                               makespan > 0 ? percent(b.seconds / makespan) : "-"});
  return rows.empty() ? ""
                      : section("Bounds", table_of(columns, rows),
                                "No schedule on these devices can be shorter than the largest.");
}

// -- page -------------------------------------------------------------------------------------------------------------

std::string fact(const std::string& value, const std::string& what) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>\n", escaped(value), escaped(what));
}

/// Reports of earlier versions have none.
std::string mean_bound_fact(const report& r) {
  if (r.usual.best() == duration{}) return "";
  return fact(percent(seconds(r.usual.best()) / seconds(r.makespan)),
              "of the makespan would be the bound if units always took their mean times");
}

std::string headline(const recorded_run& run) {
  const report& r = run.summary;
  if (!run.unfinished.empty()) return "";
  const auto finished = std::ranges::count(r.models, model_status::finished, &model_report::status);
  return "<div class=\"facts\">\n" + fact(to_string(r.makespan), "makespan") +
         fact(fmt::format("{:.3f} s", run.bound_seconds), fmt::format("lower bound ({})", run.bound)) +
         fact(percent(run.efficiency), "efficiency: bound / makespan") + mean_bound_fact(r) +
         fact(fmt::format("{} of {}", finished, r.models.size()), "models finished") +
         fact(std::to_string(r.devices.size()), "devices") + "</div>\n";
}

std::string settings(const recorded_run& run) {
  const report& r = run.summary;
  if (!run.unfinished.empty()) return fmt::format("<p class=\"note\">{}</p>\n", escaped(run.unfinished));
  const std::string decided = r.cluster.nodes.empty()
                                  ? fmt::format(", seed {}, {} decisions (mean {:.2f} us)", r.seed, r.decisions,
                                                static_cast<double>(r.decision_mean.count()) / 1e3)
                                  : "";  // each node has a scheduler of its own
  return fmt::format("<p class=\"note\">{}</p>\n",
                     escaped(fmt::format("policy {}{}, host memory {} of {}", r.policy, decided, to_string(r.host_peak),
                                         to_string(r.host_budget))));
}

/// Notes above the figures.
std::string remarks(const recorded_run& run) {
  std::string out =
      run.summary.interrupted ? "<p class=\"note\">The run was interrupted; it can be resumed.</p>\n" : "";
  for (const std::string& note : run.summary.notes) out += fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
  return out;
}

}  // namespace

timeline timeline_of(const recorded_run& run, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "trace.json";
  if (kind_of(file) == std::filesystem::file_type::not_found) return {};
  file_stream in{file};
  std::vector<std::string> devices, models;
  std::ranges::transform(run.summary.devices, std::back_inserter(devices), &device_report::name);
  std::ranges::transform(run.summary.models, std::back_inserter(models), &model_report::name);
  return read_timeline(in, file.string(), devices, models);
}

std::string to_content(const recorded_run& run, const timeline& when) {
  return headline(run) + settings(run) + remarks(run) + models_section(run) + curves_section(run) +
         section("Devices over time", timeline_chart(when),
                 "Colours are the models'. Below each device: copies to it (h2d) and from it (d2h).") +
         section("Where the time went", breakdown_chart(breakdown_bars(run))) + nodes_section(run) +
         devices_section(run) + bounds_section(run);
}

std::string to_page(const recorded_run& run, const timeline& when) {
  return page_of(run.summary.name.empty() ? "run" : run.summary.name, to_content(run, when), run.version);
}

}  // namespace hydra::apps
