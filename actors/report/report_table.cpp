#include "actors/report/report_table.hpp"

#include "actors/report/expense_table.hpp"
#include "actors/report/largest_gap.hpp"
#include "actors/report/number_text.hpp"
#include "actors/report/objectives.hpp"
#include "actors/report/search_table.hpp"
#include "actors/report/text_table.hpp"
#include "runtime/base/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>

namespace hydra {

namespace {

double share(duration part, duration whole) { return whole > duration::zero() ? seconds(part) / seconds(whole) : 0.0; }

std::string rounded_percent(double share) { return fmt::format("{:.0f} %", share * 100); }

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// "-" if there is no such number.
std::string number(const std::optional<double>& value, int digits) { return value ? number_text(*value, digits) : "-"; }

/// Of steps in parallel; only those that some model has.
std::vector<table_column> parallel_columns(const report& r) {
  std::vector<table_column> columns;
  if (has_replicas(r)) {
    columns.push_back({"replicas", alignment::right, 2});
  }
  if (has_pieces(r)) {
    columns.push_back({"pieces", alignment::right, 2});
  }
  if (has_waves(r)) {
    columns.push_back({"waves", alignment::right, 2});
    columns.push_back({"bubble", alignment::right, 2});
  }
  return columns;
}

std::vector<std::string> parallel_cells(const report& r, const model_report& m) {
  std::vector<std::string> cells;
  if (has_replicas(r)) {
    cells.push_back(std::to_string(m.replicas));
  }
  if (has_pieces(r)) {
    cells.push_back(std::to_string(m.pieces) + (m.side_by_side ? " side by side" : ""));
  }
  if (has_waves(r)) {
    cells.push_back(std::to_string(m.waves));
    cells.push_back(m.waves > 1 ? rounded_percent(bubble_share(m.pipeline)) : "-");
  }
  return cells;
}

/// Of the best evaluation; behind its loss that of the last one.
std::vector<std::string> validation_cells(const model_report& m) {
  const auto* const v = best_validation(m);
  if (!v) {
    return {"-", m.validation.empty() ? "-" : number_text(m.validation.back().loss, 4), "-", "-", "-", "-"};
  }
  return {best_cell(m),
          v == &m.validation.back() ? "-" : number_text(m.validation.back().loss, 4),
          number(v->perplexity, 2),
          v->accuracy ? percent_text(*v->accuracy) : "-",
          number(v->floor, 4),
          number(v->entropy, 4)};
}

enum class table_part : bool { result, all };

std::vector<table_column> model_columns(const report& r, table_part shown) {
  using enum alignment;
  std::vector<table_column> columns{
      {"model"},           {"best (step)", right}, {"last", right, 3},   {"perplexity", right},
      {"accuracy", right}, {"floor", right, 5},    {"entropy", right, 6}};
  columns.insert(columns.end(), {{"loss", left, 4}, {"steps", right}, {"tokens/s", right, 2}});
  if (shown == table_part::all) {
    columns.push_back({"shards", right, 1});
    std::ranges::copy(parallel_columns(r), std::back_inserter(columns));
  }
  columns.push_back({"status"});
  return columns;
}

std::string model_table(const report& r, const std::vector<const model_report*>& models, table_part shown) {
  text_table t{model_columns(r, shown)};
  for (const auto* m : models) {
    std::vector<std::string> row{m->name};
    std::ranges::copy(validation_cells(*m), std::back_inserter(row));
    row.insert(row.end(), {loss_course(*m), std::to_string(m->steps), tokens_per_second(*m)});
    if (shown == table_part::all) {
      row.push_back(std::to_string(m->cuts.size()));
      std::ranges::copy(parallel_cells(r, *m), std::back_inserter(row));
    }
    row.push_back(outcome(*m));
    t.add(std::move(row));
  }
  return t.fitted();
}

/// Models that have joined a search are none of its trials: they have a table of their own.
std::string models_part(const report& r, const search_ranking& s, table_part shown) {
  auto others = ranked(r);
  if (s.trials.empty()) {
    return model_table(r, others, shown);
  }
  std::erase_if(others, [&s](const model_report* m) { return find_trial(s, m->name) != nullptr; });
  return ranking_table(r, s) + (others.empty() ? "" : "\n" + model_table(r, others, shown));
}

/// With a precision, unless all have computed in fp32.
std::string device_table(const report& r) {
  const bool rounded =
      std::ranges::any_of(r.devices, [](const device_report& d) { return d.numbers != precision::fp32; });
  std::vector<table_column> columns{{"device"}, {"kind"}};
  if (rounded) {
    columns.push_back({"precision"});
  }
  for (const char* title : {"utilisation", "busy", "exposed", "h2d", "d2h", "cache hits", "saved", "peak / budget"}) {
    columns.push_back({title, alignment::right});
  }
  columns.push_back({""});  // of a device that was lost
  text_table t{std::move(columns)};
  for (const auto& d : r.devices) {
    std::vector<std::string> row{d.name, d.kind};
    if (rounded) {
      row.push_back(to_string(d.numbers));
    }
    for (auto& cell : {rounded_percent(share(d.busy, r.makespan)), to_string(d.busy), to_string(d.exposed_transfer),
                       to_string(d.h2d_bytes), to_string(d.d2h_bytes), hit_rate(d), saved_rate(d),
                       to_string(d.peak) + " / " + to_string(d.budget), std::string{d.lost ? "lost" : ""}}) {
      row.push_back(cell);
    }
    t.add(std::move(row));
  }
  return t.fitted();
}

/// Of a cluster; empty for one machine.
std::string node_table(const report& r) {
  if (r.cluster.nodes.empty()) {
    return "";
  }
  std::vector<table_column> columns;
  for (const auto& title : node_titles(r)) {
    const bool is_text = columns.empty() || title.empty();
    columns.push_back({title, is_text ? alignment::left : alignment::right});
  }
  text_table t{std::move(columns)};
  for (const auto& n : r.cluster.nodes) {
    t.add(node_cells(r, n));
  }
  return t.fitted() + "network  " + network_text(r.cluster) + "\n\n";
}

/// How the makespan is split; with a column for bubbles if there are waves.
std::string breakdown_table(const report& r) {
  const auto shown = [&](const breakdown_part& part) { return part.value != &time_breakdown::bubble || has_waves(r); };
  std::vector<table_column> columns{{"makespan of"}};
  for (const auto& part : breakdown_parts | std::views::filter(shown)) {
    columns.push_back({part.title, alignment::right});
  }
  text_table t{std::move(columns)};
  for (const auto& d : r.devices) {
    std::vector<std::string> row{d.name};
    for (const auto& part : breakdown_parts | std::views::filter(shown)) {
      row.push_back(fmt::format("{:.1f} %", share(d.time.*part.value, r.makespan) * 100));
    }
    t.add(std::move(row));
  }
  return t.to_string();
}

std::string left_out(std::size_t n) {
  return n == 0 ? "" : fmt::format(" ({} left out: not complete)", counted(n, "model"));
}

/// "completion mean 12.300 s, weighted 11.000 s, 1 of 2 deadlines missed".
std::string completion_line(const report& r) {
  const auto o = objectives_of(r.models);
  if (!o.mean_completion) {
    return "";
  }
  auto line =
      fmt::format("completion mean {}, weighted {}", to_string(*o.mean_completion), to_string(*o.weighted_completion));
  if (o.deadlines > 0) {
    line += fmt::format(", {} of {} deadlines missed", o.missed_deadlines, o.deadlines);
  }
  return line + left_out(o.left_out) + "\n";
}

std::string usual_line(const report& r) {
  if (r.usual.best() == duration{}) {
    return "";  // not known, or nothing was trained
  }
  return fmt::format("at mean times of units  {} ({})  {} of the makespan\n", to_string(r.usual.best()),
                     r.usual.best_name(), rounded_percent(share(r.usual.best(), r.makespan)));
}

std::string makespan_line(const report& r) {
  const auto most = largest_gap(r);
  return fmt::format("makespan {}  bound {} ({})  efficiency {}{}\n", to_string(r.makespan), to_string(r.bound()),
                     r.bound_name(), rounded_percent(r.efficiency()),
                     most ? fmt::format("  largest gap {}: {}", rounded_percent(most->share), most->text) : "");
}

/// What the user has asked for and may have missed.
std::string deadline_line(const report& r) { return objectives_of(r.models).deadlines > 0 ? completion_line(r) : ""; }

std::string closing_lines(const report& r) {
  const bool on_nodes = !r.cluster.nodes.empty();  // each has an optimizer and a policy of its own
  return fmt::format("host {} / {}{}{}\n", to_string(r.host_peak), to_string(r.host_budget),
                     r.process_peak > byte_count{} ? "  process " + to_string(r.process_peak) : "",
                     on_nodes ? "" : "  optimizer " + to_string(r.optimizer_busy)) +
         fmt::format("policy {}{}{}\n", r.policy,
                     r.replaced > 0 ? fmt::format(" (replaced {} that failed)", r.replaced) : "",
                     on_nodes ? ""
                              : fmt::format("  decisions {}  mean {:.2f} us  p99 {:.2f} us  waited for {}",
                                            r.decisions, microseconds(r.decision_mean), microseconds(r.decision_p99),
                                            to_string(r.decision_wait))) +
         completion_line(r) + wrap(to_line(r.limits), widest_line, 0) + expense_line(r) + makespan_line(r) +
         usual_line(r);
}

std::string spaced(const std::string& table) { return table.empty() ? "" : table + "\n"; }

/// Without those that were trained before this run.
double tokens_here(const model_report& m) {
  return m.steps == 0 ? 0.0 : static_cast<double>(m.tokens) * (m.steps - m.steps_before) / m.steps;
}

/// Some nodes have trained a model together.
bool exchanges(const report& r) {
  return std::ranges::any_of(r.cluster.nodes, [](const node_report& n) { return n.exchanged > byte_count{}; });
}

bool has_failures(const report& r) {
  return std::ranges::any_of(r.cluster.nodes, [](const node_report& n) { return n.failures > 0; });
}

}  // namespace

std::vector<std::string> node_titles(const report& r) {
  std::vector<std::string> all{"node", "devices", "joined at", "first model after", "models"};
  if (exchanges(r)) {
    all.insert(all.end(), {"exchanged", "during"});
  }
  if (has_failures(r)) {
    all.emplace_back("failures");
  }
  all.emplace_back();
  return all;
}

std::vector<std::string> node_cells(const report& r, const node_report& n) {
  std::vector<std::string> all{n.name, std::to_string(n.devices), to_string(n.joined),
                               n.used ? to_string(*n.used) : "-", std::to_string(n.models)};
  if (exchanges(r)) {
    all.insert(all.end(), {to_string(n.exchanged), to_string(n.exchanging)});
  }
  if (has_failures(r)) {
    all.push_back(std::to_string(n.failures));
  }
  all.push_back(n.outcome);
  return all;
}

std::string network_text(const cluster_report& c) {
  return fmt::format("{}, {} between nodes  {} of checkpoints  {} trained again", counted(c.moves, "move"),
                     to_string(c.transit), to_string(c.moved), counted(c.redone, "step"));
}

std::string loss_course(const model_report& m) {
  return m.loss.empty() ? "-" : number_text(m.loss.front(), 4) + " -> " + number_text(m.loss.back(), 4);
}

std::string tokens_per_second(const model_report& m) {
  return m.elapsed > duration::zero() ? fmt::format("{:.0f}", tokens_here(m) / seconds(m.elapsed)) : "-";
}

std::string tokens_per_second(const report& r) {
  double tokens = 0;
  for (const auto& m : r.models) {
    tokens += tokens_here(m);
  }
  return r.makespan > duration::zero() && tokens > 0 ? fmt::format("{:.0f}", tokens / seconds(r.makespan)) : "-";
}

std::string best_cell(const model_report& m) {
  const auto* const best = best_validation(m);
  return best ? fmt::format("{} ({})", number_text(best->loss, 4), best->step) : "-";
}

std::string outcome(const model_report& m) {
  const auto why = m.status == model_status::stopped && !m.reason.empty() ? ": " + m.reason : "";
  const auto status = to_string(m.status) + why + (m.unsaved ? ", not saved" : "");
  return m.error && m.status == model_status::failed
             ? fmt::format("{}: {}: {}", status, to_string(m.error.code), one_line(m.error.text))
             : status;
}

std::string hit_rate(const device_report& d) {
  const auto visits = d.cache_hits + d.cache_misses;
  return visits == 0 ? "-" : rounded_percent(static_cast<double>(d.cache_hits) / static_cast<double>(visits));
}

std::string saved_rate(const device_report& d) {
  const auto all = d.saved + d.recomputed;
  return all == 0 ? "-" : rounded_percent(static_cast<double>(d.saved) / static_cast<double>(all));
}

std::string to_line(const bounds& limits) {
  std::string text = "bounds";
  for (const auto& b : limits.all()) {
    text += fmt::format("  {} {}", b.name, to_string(b.value));
  }
  return text + "\n";
}

std::string to_result(const report& r, const search_ranking& s) {
  return models_part(r, s, table_part::result) + "\n" + deadline_line(r) + expense_line(r) + makespan_line(r);
}

std::string to_table(const report& r) { return to_table(r, {}); }

std::string to_table(const report& r, const search_ranking& s) {
  return models_part(r, s, table_part::all) + "\n" + node_table(r) + device_table(r) + "\n" + breakdown_table(r) +
         "\n" + spaced(expense_table(r)) + closing_lines(r);
}

}  // namespace hydra
