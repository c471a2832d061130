#include "apps/report/page.hpp"

#include "apps/report/device_charts.hpp"
#include "apps/report/loss_chart.hpp"
#include "apps/report/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace hydra::apps {

namespace {

constexpr const char* style = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6570; --line: #d9dee4; --ground: #ffffff; --card: #f5f7f9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #9aa5b1; --line: #343b44; --ground: #15181c; --card: #1d2127; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); margin: 0 auto; max-width: 1040px;
       padding: 24px 20px; }
h1 { font-size: 26px; margin: 0; } h2 { font-size: 18px; margin: 36px 0 8px; }
p.note, footer { color: var(--soft); font-size: 13px; }
.facts { display: flex; flex-wrap: wrap; gap: 12px; margin: 20px 0; }
.facts div { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 16px; }
.facts b { display: block; font-size: 22px; } .facts span { color: var(--soft); font-size: 13px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 500; font-size: 13px; } .n { text-align: right; }
.fault { white-space: normal; color: #e15759; }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: var(--soft); }
.grid { stroke: var(--line); stroke-width: 1; }
.legend span { display: inline-block; margin-right: 14px; font-size: 13px; }
i { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 6px; }
@media print {
  :root { --ink: #000; --soft: #444; --line: #bbb; --ground: #fff; --card: #fff; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  section, tr, svg { break-inside: avoid; } body { max-width: none; padding: 0; font-size: 11px; }
}
)";

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.0f} %", share * 100) : "-"; }

/// Undefined numbers are not printed: they were not measured.
std::string number(double x) { return std::isfinite(x) ? fmt::format("{:.4f}", x) : "-"; }

std::string swatch(std::size_t model) { return fmt::format("<i style=\"background:{}\"></i>", colour_of(model)); }

// -- tables ------------------------------------------------------------------------------------------------------------

struct column {
  std::string title;
  bool numeric = false;
};

/// Cells are markup already.
std::string row_of(const std::vector<column>& columns, const std::vector<std::string>& cells) {
  std::string out = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    out += fmt::format("<td{}>{}</td>", columns[i].numeric ? " class=\"n\"" : "", cells[i]);
  return out + "</tr>\n";
}

std::string head_of(const std::vector<column>& columns) {
  std::string out = "<tr>";
  for (const column& c : columns)
    out += fmt::format("<th{}>{}</th>", c.numeric ? " class=\"n\"" : "", escaped(c.title));
  return out + "</tr>\n";
}

std::string table_of(const std::vector<column>& columns, const std::string& rows) {
  return "<div class=\"wide\"><table>\n" + head_of(columns) + rows + "</table></div>\n";
}

std::string section(const std::string& title, const std::string& content, const std::string& note = "") {
  if (content.empty()) return "";
  const std::string remark = note.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
  return fmt::format("<section>\n<h2>{}</h2>\n{}{}</section>\n", escaped(title), content, remark);
}

// -- models ------------------------------------------------------------------------------------------------------------

const validation_report* last_validation(const recorded_run& run, std::size_t model) {
  const auto& all = run.summary.models[model].validation;
  return all.empty() ? nullptr : &all.back();
}

double last_loss(const model_report& m) { return m.loss.empty() ? std::nan("") : static_cast<double>(m.loss.back()); }

/// Smaller is better; validated models come before others.
std::pair<int, double> rank_of(const recorded_run& run, std::size_t model) {
  const auto* validated = last_validation(run, model);
  const double loss = validated ? validated->loss : last_loss(run.summary.models[model]);
  if (!std::isfinite(loss)) return {2, 0};
  return {validated ? 0 : 1, loss};
}

std::string quality(const validation_report& v) {
  const std::string perplexity = v.perplexity ? fmt::format("perplexity {:.2f}", *v.perplexity) : "";
  const std::string accuracy = v.accuracy ? "accuracy " + percent(*v.accuracy) : "";
  return perplexity + (perplexity.empty() || accuracy.empty() ? "" : ", ") + accuracy;
}

std::string validation_cell(const validation_report* v) {
  if (!v) return "-";
  const std::string floor = v->floor ? fmt::format(" (floor {})", number(*v->floor)) : "";
  return escaped(number(v->loss) + floor);
}

std::string status_of(const model_report& m) {
  const std::string status = to_string(m.status);
  if (!m.error) return escaped(status);
  const std::string text = fmt::format("{}: {}: {}", status, to_string(m.error.code), m.error.text);
  return fmt::format("<span class=\"fault\">{}</span>", escaped(text));
}

std::string models_section(const recorded_run& run) {
  const std::vector<column> columns{{"model"},          {"family"},     {"parameters", true}, {"shards", true},
                                    {"steps", true},    {"loss", true}, {"validation", true}, {"quality"},
                                    {"tokens/s", true}, {"status"}};
  std::string rows;
  for (const std::size_t i : best_first(run)) {
    const model_report& m = run.summary.models[i];
    const auto* v = last_validation(run, i);
    rows += row_of(columns, {swatch(i) + escaped(m.name), escaped(m.family), std::to_string(m.parameters),
                             std::to_string(m.cuts.size()), std::to_string(m.steps), number(last_loss(m)),
                             validation_cell(v), v ? escaped(quality(*v)) : "", tokens_per_second(m), status_of(m)});
  }
  return rows.empty() ? ""
                      : section("Models", table_of(columns, rows), "Best first, by validation loss if there is one.");
}

// -- curves ------------------------------------------------------------------------------------------------------------

constexpr std::size_t most_curves = 60;  // more cannot be told apart

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

// -- devices -----------------------------------------------------------------------------------------------------------

std::string devices_section(const recorded_run& run) {
  const std::vector<column> columns{
      {"device"},    {"kind"},      {"speed", true},      {"utilisation", true},   {"busy", true},
      {"h2d", true}, {"d2h", true}, {"cache hits", true}, {"peak / budget", true}, {""}};
  const double makespan = seconds(run.summary.makespan);
  std::string rows;
  for (const device_report& d : run.summary.devices)
    rows += row_of(columns, {escaped(d.name), escaped(d.kind), fmt::format("{:g}", d.speed),
                             makespan > 0 ? percent(seconds(d.busy) / makespan) : "-", to_string(d.busy),
                             to_string(d.h2d_bytes), to_string(d.d2h_bytes), hit_rate(d),
                             to_string(d.peak) + " / " + to_string(d.budget), d.lost ? "lost" : ""});
  return rows.empty() ? "" : section("Devices", table_of(columns, rows));
}

std::string bounds_section(const recorded_run& run) {
  const std::vector<column> columns{{"bound"}, {"time", true}, {"of the makespan", true}};
  const double makespan = seconds(run.summary.makespan);
  std::string rows;
  for (const named_seconds& b : run.bounds)
    rows += row_of(columns, {escaped(b.name), fmt::format("{:.3f} s", b.seconds),
                             makespan > 0 ? percent(b.seconds / makespan) : "-"});
  return rows.empty() ? ""
                      : section("Bounds", table_of(columns, rows),
                                "No schedule on these devices can be shorter than the largest.");
}

// -- page --------------------------------------------------------------------------------------------------------------

std::string fact(const std::string& value, const std::string& what) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>\n", escaped(value), escaped(what));
}

std::string headline(const recorded_run& run) {
  const report& r = run.summary;
  const auto finished = std::ranges::count(r.models, model_status::finished, &model_report::status);
  return "<div class=\"facts\">\n" + fact(to_string(r.makespan), "makespan") +
         fact(fmt::format("{:.3f} s", run.bound_seconds), fmt::format("lower bound ({})", run.bound)) +
         fact(percent(run.efficiency), "efficiency: bound / makespan") +
         fact(fmt::format("{} of {}", finished, r.models.size()), "models finished") +
         fact(std::to_string(r.devices.size()), "devices") + "</div>\n";
}

std::string settings(const recorded_run& run) {
  const report& r = run.summary;
  return fmt::format(
      "<p class=\"note\">{}</p>\n",
      escaped(fmt::format("policy {}, seed {}, {} decisions (mean {:.2f} us), host memory {} of {}", r.policy, r.seed,
                          r.decisions, static_cast<double>(r.decision_mean.count()) / 1e3, to_string(r.host_peak),
                          to_string(r.host_budget))));
}

/// What a reader should know before the figures.
std::string remarks(const recorded_run& run) {
  std::string out =
      run.summary.interrupted ? "<p class=\"note\">The run was interrupted; it can be resumed.</p>\n" : "";
  for (const std::string& note : run.summary.notes) out += fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
  return out;
}

}  // namespace

std::vector<std::size_t> best_first(const recorded_run& run) {
  std::vector<std::size_t> order(run.summary.models.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t model) { return rank_of(run, model); });
  return order;
}

std::string to_page(const recorded_run& run, const timeline& when) {
  const std::string title = escaped(run.summary.name.empty() ? "run" : run.summary.name);
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
             "<title>{0} - Hydra</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
             title, style) +
         headline(run) + settings(run) + remarks(run) + models_section(run) + curves_section(run) +
         section("Devices over time", timeline_chart(when),
                 "Colours are the models'. Below each device: copies to it (h2d) and from it (d2h).") +
         section("Where the time went", blame_chart(blame_bars(run))) + devices_section(run) + bounds_section(run) +
         fmt::format("<footer>Hydra {}</footer>\n</body>\n</html>\n", escaped(run.version));
}

}  // namespace hydra::apps
