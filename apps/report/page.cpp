#include "apps/report/page.hpp"

#include "actors/report/expense_table.hpp"
#include "actors/report/largest_gap.hpp"
#include "actors/report/number_text.hpp"
#include "actors/report/report_table.hpp"
#include "actors/report/search_table.hpp"
#include "apps/report/chart_parts.hpp"
#include "apps/report/device_charts.hpp"
#include "apps/report/loss_chart.hpp"
#include "apps/report/markup.hpp"
#include "apps/report/page_parts.hpp"
#include "apps/report/result.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/regular_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace hydra::apps {

namespace {

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.0f} %", share * 100) : "-"; }

/// "-" for values that are absent or not finite: they were not measured.
std::string number(const std::optional<double>& x, int digits = 4) {
  return x && std::isfinite(*x) ? fmt::format("{:.{}f}", *x, digits) : "-";
}

/// "-" for 0: a count that every model has is then unknown.
std::string count(auto n) { return n > 0 ? std::to_string(n) : "-"; }

std::string swatch(std::size_t model) { return fmt::format("<i style=\"background:{}\"></i>", colour_of(model)); }

// -- models -----------------------------------------------------------------------------------------------------------

/// Of a search; null for a model that is none.
const ranked_trial* trial_of(const recorded_run& run, std::size_t model) {
  return find_trial(run.search, run.summary.models[model].name);
}

std::string status_of(const model_report& m, const ranked_trial* trial) {
  if (trial && m.status != model_status::failed) return escaped(outcome(m, *trial));
  if (!m.error) return escaped(outcome(m));
  const std::string text = fmt::format("{}: {}: {}", status_text(m), to_string(m.error.code), m.error.text);
  return fmt::format("<span class=\"fault\">{}</span>", escaped(text));
}

/// "4, 2 replicas, 8 waves (bubble 11 %), 2 pieces side by side": the shards, and how steps and layers are divided.
std::string shards_cell(const model_report& m) {
  std::string text = count(m.cuts.size());
  if (m.replicas > 1) text += fmt::format(", {} replicas", m.replicas);
  if (m.waves > 1) text += fmt::format(", {} waves (bubble {})", m.waves, percent(bubble_share(m.pipeline)));
  if (m.pieces > 1) text += fmt::format(", {} pieces{}", m.pieces, m.side_by_side ? " side by side" : "");
  return text;
}

/// Those that are trained, of all if some are frozen.
std::string parameters_cell(const model_report& m) {
  const std::string all = count(m.parameters);
  return m.frozen_parameters == 0 ? all : fmt::format("{} of {}", count(m.parameters - m.frozen_parameters), all);
}

constexpr std::size_t most_settings = 8;  // columns; the best model has all of its values above the table

std::vector<column> model_columns(const std::vector<std::string>& keys) {
  std::vector<column> columns{{"model"}};
  for (const std::string& key : key_titles(keys)) columns.push_back({key, true});
  for (const char* title :
       {"best (step)", "last", "perplexity", "accuracy", "floor", "loss", "rate now", "steps", "tokens/s"})
    columns.push_back({title, true});
  columns.push_back({"status"});
  return columns;
}

/// Of the evaluation by which the model is shown, and of the last one.
std::vector<std::string> evaluation_cells(const recorded_run& run, std::size_t model) {
  const auto& all = run.summary.models[model].validation;
  const auto* const v = shown_evaluation(run, model);
  const std::string last = all.empty() || v == &all.back() ? "-" : number(all.back().loss);
  if (!v) return {"-", last, "-", "-", "-"};
  return {fmt::format("{} ({})", number(v->loss), v->step), last, number(v->perplexity, 2),
          v->accuracy ? percent_text(*v->accuracy) : "-", number(v->floor)};
}

std::vector<std::string> model_row(const recorded_run& run, std::size_t model,
                                   const std::vector<std::string>& keys) {
  const model_report& m = run.summary.models[model];
  std::vector<std::string> cells{swatch(model) + escaped(m.name)};
  auto values = told_values(run, model, keys);
  values.resize(keys.size(), "-");
  std::ranges::transform(values, std::back_inserter(cells), escaped);
  std::ranges::copy(evaluation_cells(run, model), std::back_inserter(cells));
  const auto rate = run.learning_rates.find(m.name);
  const auto all = run.steps_in_all.find(m.name);
  const std::string of = all == run.steps_in_all.end() ? "" : fmt::format(" / {}", all->second);
  cells.insert(cells.end(),
               {number(last_loss(m)), rate == run.learning_rates.end() ? "-" : fmt::format("{:.3g}", rate->second),
                std::to_string(m.steps) + of, tokens_per_second(m), status_of(m, trial_of(run, model))});
  return cells;
}

std::string order_note(const recorded_run& run) {
  if (run.search.trials.empty()) return "Best first, by the best validation loss of each, failed models last.";
  return "Best first; after different numbers of steps scores do not compare. " + run.search.rule + "; " +
         search_cost(run.summary, run.search) + ".";
}

std::string models_section(const recorded_run& run) {
  auto keys = told_keys(run);
  keys.resize(std::min(keys.size(), most_settings));
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t i : best_first(run)) rows.push_back(model_row(run, i, keys));
  return section("Models", table_of(model_columns(keys), rows), order_note(run));
}

/// What models are made of; those that are made alike have one row.
std::string sizes_section(const recorded_run& run) {
  std::vector<std::vector<std::string>> rows;
  for (const model_report& m : run.summary.models) {
    const std::vector<std::string> row{escaped(m.family), parameters_cell(m), shards_cell(m), escaped(m.name)};
    const auto alike = std::ranges::find_if(
        rows, [&](const auto& other) { return std::equal(row.begin(), row.end() - 1, other.begin()); });
    if (alike == rows.end())
      rows.push_back(row);
    else
      alike->back() += ", " + row.back();
  }
  return section("Sizes of the models",
                 table_of({{"family"}, {"parameters", true}, {"shards", true}, {"models"}}, rows));
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
  std::vector<legend_entry> entries;
  for (const loss_curve& c : curves) entries.push_back({colour_of(c.colour), c.name});
  return legend(entries);
}

std::string lines_note(const std::vector<loss_curve>& curves) {
  std::size_t width = 1;
  for (const loss_curve& c : curves) width = std::max(width, averaged_steps(c.loss.size()));
  return width == 1 ? "Lines: training loss of each step; dashed, with points: validation."
                    : fmt::format(
                          "Lines: training loss, averaged over up to {} steps, and pale that of each step; "
                          "dashed, with points: validation.",
                          width);
}

std::string curves_section(const recorded_run& run) {
  std::vector<loss_curve> curves;
  for (const std::size_t i : best_first(run))
    if (curves.size() < most_curves) curves.push_back(curve_of(run, i));
  const std::string chart = loss_chart(curves);
  if (chart.empty()) return "";
  const bool all = curves.size() == run.summary.models.size();
  return section("Loss", chart + curve_legend(curves),
                 lines_note(curves) +
                     (all ? "" : fmt::format(" The best {} models of {}.", most_curves, run.summary.models.size())));
}

// -- devices ----------------------------------------------------------------------------------------------------------

std::string devices_section(const recorded_run& run) {
  const std::vector<column> columns{
      {"device"},    {"kind"},      {"speed", true},      {"utilisation", true},   {"busy", true},
      {"h2d", true}, {"d2h", true}, {"cache hits", true}, {"saved", true}, {"peak / budget", true}, {""}};
  const double makespan = seconds(run.summary.makespan);
  std::vector<std::vector<std::string>> rows;
  for (const device_report& d : run.summary.devices)
    rows.push_back({escaped(d.name), escaped(d.kind), fmt::format("{:g}", d.speed),
                    makespan > 0 ? percent(seconds(d.busy) / makespan) : "-", to_string(d.busy), to_string(d.h2d_bytes),
                    to_string(d.d2h_bytes), hit_rate(d), saved_rate(d), to_string(d.peak) + " / " + to_string(d.budget),
                    d.lost ? "lost" : ""});
  return section("Devices", table_of(columns, rows));
}

std::string expenses_section(const recorded_run& run) {
  const report& r = run.summary;
  const std::vector<std::vector<std::string>> rows = expense_rows(r);
  if (rows.empty()) return "";
  std::vector<column> columns;
  for (const table_column& c : expense_columns(r)) columns.push_back({c.title, c.align == alignment::right});
  std::vector<std::vector<std::string>> cells = rows;
  for (auto& row : cells) std::ranges::transform(row, row.begin(), escaped);
  return section("Cost and energy", table_of(columns, cells), escaped(expense_line(r)));
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

std::string bounds_table(const recorded_run& run) {
  const std::vector<column> columns{{"bound"}, {"time", true}, {"of the makespan", true}};
  const double makespan = seconds(run.summary.makespan);
  std::vector<std::vector<std::string>> rows;
  const bool on_nodes = !run.summary.cluster.nodes.empty();  // what only they know is 0
  for (const named_seconds& b : run.bounds)
    if (!on_nodes || b.seconds > 0)
      rows.push_back(
          {escaped(b.name), fmt::format("{:.3f} s", b.seconds), makespan > 0 ? percent(b.seconds / makespan) : "-"});
  return table_of(columns, rows);
}

std::string fact(const std::string& value, const std::string& what) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>\n", escaped(value), escaped(what));
}

/// Reports of earlier versions have none.
std::string mean_bound_fact(const report& r) {
  if (r.usual.best() == duration{}) return "";
  return fact(percent(seconds(r.usual.best()) / seconds(r.makespan)),
              "of the makespan would be the bound if units always took their mean times");
}

std::string facts(const std::string& all) { return all.empty() ? "" : "<div class=\"facts\">\n" + all + "</div>\n"; }

std::string scheduler_text(const report& r) {
  const std::string decided = r.cluster.nodes.empty()
                                  ? fmt::format(", seed {}, {} decisions (mean {:.2f} us)", r.seed, r.decisions,
                                                static_cast<double>(r.decision_mean.count()) / 1e3)
                                  : "";  // each node has a scheduler of its own
  return fmt::format("policy {}{}, host memory {} of {}", r.policy, decided, to_string(r.host_peak),
                     to_string(r.host_budget));
}

/// What a scheduler is judged by.
std::string makespan_section(const recorded_run& run) {
  if (!run.unfinished.empty()) return "";
  const report& r = run.summary;
  const std::string figures =
      fact(to_string(r.makespan), "makespan") +
      fact(fmt::format("{:.3f} s", run.bound_seconds), fmt::format("lower bound ({})", run.bound)) +
      fact(percent(run.efficiency), "efficiency: bound / makespan") + mean_bound_fact(r);
  return section("Makespan and its bounds", facts(figures) + bounds_table(run),
                 scheduler_text(r) + ". No schedule on these devices can be shorter than the largest bound.");
}

// -- page -------------------------------------------------------------------------------------------------------------

std::string best_facts(const recorded_run& run) {
  const auto best = best_model(run);
  if (!best) return "";
  const model_report& m = run.summary.models[*best];
  const auto* const v = shown_evaluation(run, *best);
  const std::string told = settings_text(run, *best), quality = v ? quality_text(*v) : "";
  return fact(m.name, best_label(run) + (told.empty() ? "" : ": " + told)) +
         (v ? fact(number(v->loss), fmt::format("validation at step {} of {}{}", v->step, m.steps,
                                                quality.empty() ? "" : "; " + quality))
            : fact(number(last_loss(m)), fmt::format("training loss at step {}; it was not evaluated", m.steps)));
}

/// Of a run that has ended.
std::string cost_facts(const recorded_run& run) {
  const report& r = run.summary;
  if (!run.unfinished.empty() || r.models.empty()) return "";
  const std::string speed = tokens_per_second(r);
  const device_report* const d = fullest_device(r);
  const auto most = largest_gap(r);
  const std::string gap = most ? fmt::format("; largest gap {}: {}", percent(most->share), most->text) : "";
  return fact(wall_time(r), "wall time; " + outcomes_text(r)) +
         (speed == "-" ? "" : fact(speed, "tokens/s, all models")) +
         (d ? fact(to_string(d->peak), fmt::format("memory peak, of {} on {}", to_string(d->budget), d->name)) : "") +
         fact(percent(run.efficiency), fmt::format("efficiency: bound {:.3f} s ({}) / makespan {}{}", run.bound_seconds,
                                                   run.bound, to_string(r.makespan), gap));
}

std::string next_part(const recorded_run& run) {
  if (run.next.empty()) return "";
  const std::string note =
      run.note_on_next.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", escaped(run.note_on_next));
  return note + fmt::format("<pre>{}</pre>\n", escaped(fmt::format("{}", fmt::join(run.next, "\n"))));
}

std::string remarks(const recorded_run& run) {
  std::string out = run.unfinished.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", escaped(run.unfinished));
  out += run.summary.interrupted ? "<p class=\"note\">The run was interrupted; it can be resumed.</p>\n" : "";
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
  return facts(best_facts(run) + cost_facts(run)) + next_part(run) + remarks(run) + models_section(run) +
         curves_section(run) +
         section("Devices over time", timeline_chart(when),
                 "Colours are the models'. Below each device: copies to it (h2d) and from it (d2h).") +
         section("Where the time went", breakdown_chart(breakdown_bars(run))) + nodes_section(run) +
         devices_section(run) + sizes_section(run) + makespan_section(run) + expenses_section(run);
}

std::string to_page(const recorded_run& run, const timeline& when) {
  const std::string& name = run.folder.empty() ? run.summary.name : run.folder;
  return page_of(name.empty() ? "run" : name, to_content(run, when), run.version);
}

}  // namespace hydra::apps
