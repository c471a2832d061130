#include "actors/report/report.hpp"

#include "actors/report/objectives.hpp"
#include "actors/report/text_table.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>
#include <hydra/version.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <ostream>

namespace hydra {

namespace {

using json = nlohmann::ordered_json;  // keys in the order of the documentation; NaN and infinities become null

double share(duration part, duration whole) { return whole > duration::zero() ? seconds(part) / seconds(whole) : 0.0; }

double microseconds(duration d) { return static_cast<double>(d.count()) / 1e3; }

// -- table -----------------------------------------------------------------------------------------------------------

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

std::string loss_course(const model_report& m) {
  return m.loss.empty() ? "-" : fmt::format("{:.4f} -> {:.4f}", m.loss.front(), m.loss.back());
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string outcome(const model_report& m) {
  const auto status = status_text(m);
  return m.error && m.status == model_status::failed ? fmt::format("{}: {}: {}", status, to_string(m.error.code), one_line(m.error.text)) : status;
}

/// "-" if there is no such number.
std::string number(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

std::optional<double> last_loss(const model_report& m) {
  return m.validation.empty() ? std::nullopt : std::optional(m.validation.back().loss);
}

/// Of the last evaluation.
std::vector<std::string> validation_cells(const model_report& m) {
  if (m.validation.empty()) {
    return {"-", "-", "-", "-", "-"};
  }
  const auto& v = m.validation.back();
  return {number(v.loss, 4), number(v.floor, 4), number(v.entropy, 4), number(v.perplexity, 2),
          v.accuracy ? fmt::format("{:.1f} %", *v.accuracy * 100) : "-"};
}

std::string model_table(const report& r) {
  const bool validated = std::ranges::any_of(r.models, [](const model_report& m) { return !m.validation.empty(); });
  std::vector<table_column> columns{{"model"}, {"shards", alignment::right}, {"steps", alignment::right}, {"loss"}};
  if (validated) {
    for (const char* title : {"validation", "floor", "entropy", "perplexity", "accuracy"}) {
      columns.push_back({title, alignment::right});
    }
  }
  columns.push_back({"tokens/s", alignment::right});
  columns.push_back({"status"});
  text_table t{std::move(columns)};
  for (const auto* m : ranked(r)) {
    std::vector<std::string> row{m->name, std::to_string(m->cuts.size()), std::to_string(m->steps), loss_course(*m)};
    if (validated) {
      std::ranges::copy(validation_cells(*m), std::back_inserter(row));
    }
    row.push_back(tokens_per_second(*m));
    row.push_back(outcome(*m));
    t.add(std::move(row));
  }
  return t.to_string();
}

/// With a precision, unless all have computed in fp32.
std::string device_table(const report& r) {
  const bool rounded = std::ranges::any_of(r.devices, [](const device_report& d) { return d.numbers != precision::fp32; });
  std::vector<table_column> columns{{"device"}, {"kind"}};
  if (rounded) {
    columns.push_back({"precision"});
  }
  for (const char* title : {"utilisation", "busy", "exposed", "h2d", "d2h", "cache hits", "peak / budget"}) {
    columns.push_back({title, alignment::right});
  }
  columns.push_back({""});
  text_table t{std::move(columns)};
  for (const auto& d : r.devices) {
    std::vector<std::string> row{d.name, d.kind};
    if (rounded) {
      row.push_back(to_string(d.numbers));
    }
    for (auto& cell : {percent(share(d.busy, r.makespan)), to_string(d.busy), to_string(d.exposed_transfer),
                       to_string(d.h2d_bytes), to_string(d.d2h_bytes), hit_rate(d),
                       to_string(d.peak) + " / " + to_string(d.budget), std::string{d.lost ? "lost" : ""}}) {
      row.push_back(cell);
    }
    t.add(std::move(row));
  }
  return t.to_string();
}

/// How the makespan is split.
std::string breakdown_table(const report& r) {
  text_table t{{{"makespan of"},
                {"compute", alignment::right},
                {"h2d", alignment::right},
                {"d2h", alignment::right},
                {"optimizer", alignment::right},
                {"predecessor", alignment::right},
                {"no unit", alignment::right},
                {"actors", alignment::right}}};
  for (const auto& d : r.devices) {
    std::vector<std::string> row{d.name};
    for (const auto& [name, part] : parts(d.time)) {
      row.push_back(fmt::format("{:.1f} %", share(part, r.makespan) * 100));
    }
    t.add(std::move(row));
  }
  return t.to_string();
}

std::string left_out(std::size_t n) {
  return n == 0 ? "" : fmt::format(" ({} {} left out: not complete)", n, n == 1 ? "model" : "models");
}

/// "completion mean 12.300 s, weighted 11.000 s, 1 of 2 deadlines missed".
std::string completion_line(const report& r) {
  const auto o = objectives_of(r.models);
  if (!o.mean_completion) {
    return "";
  }
  auto line = fmt::format("completion mean {}, weighted {}", to_string(*o.mean_completion), to_string(*o.weighted_completion));
  if (o.deadlines > 0) {
    line += fmt::format(", {} of {} deadlines missed", o.missed_deadlines, o.deadlines);
  }
  return line + left_out(o.left_out) + "\n";
}

std::string closing_lines(const report& r) {
  return fmt::format("host {} / {}{}  optimizer {}\n", to_string(r.host_peak), to_string(r.host_budget),
                     r.process_peak > byte_count{} ? "  process " + to_string(r.process_peak) : "", to_string(r.optimizer_busy)) +
         fmt::format("policy {}{}  decisions {}  mean {:.2f} us  p99 {:.2f} us\n", r.policy,
                     r.replaced > 0 ? fmt::format(" (replaced {} that failed)", r.replaced) : "", r.decisions,
                     microseconds(r.decision_mean), microseconds(r.decision_p99)) +
         completion_line(r) + to_line(r.limits) +
         fmt::format("makespan {}  bound {} ({})  efficiency {}\n", to_string(r.makespan), to_string(r.bound()),
                     r.bound_name(), percent(r.efficiency()));
}

// -- json ------------------------------------------------------------------------------------------------------------

json json_of(const bounds& limits) {
  json j;
  for (const auto& b : limits.all()) {
    j[b.name + "_s"] = seconds(b.value);
  }
  return j;
}

json json_of(const time_breakdown& b) {
  json j;
  for (const auto& [name, part] : parts(b)) {
    j[name + "_s"] = seconds(part);
  }
  return j;
}

json json_of(const device_report& d, duration makespan) {
  json j{{"name", d.name},
         {"kind", d.kind},
         {"precision", to_string(d.numbers)},
         {"speed", d.speed},
         {"busy_s", seconds(d.busy)},
         {"utilisation", share(d.busy, makespan)},
         {"exposed_transfer_s", seconds(d.exposed_transfer)},
         {"blame", json_of(d.time)},
         {"h2d_bytes", d.h2d_bytes.value()},
         {"d2h_bytes", d.d2h_bytes.value()},
         {"cache_hits", d.cache_hits},
         {"cache_misses", d.cache_misses},
         {"peak_bytes", d.peak.value()},
         {"budget_bytes", d.budget.value()},
         {"reserve_bytes", d.reserve.value()}};
  if (!d.model.empty()) {
    j["model"] = d.model;
  }
  if (d.lost) {
    j["lost"] = true;
  }
  return j;
}

json json_of(const objectives& o) {
  json j;
  if (o.mean_completion) {
    j["mean_completion_s"] = seconds(*o.mean_completion);
    j["weighted_completion_s"] = seconds(*o.weighted_completion);
  }
  j["missed_deadlines"] = o.missed_deadlines;
  if (o.left_out > 0) {
    j["left_out"] = o.left_out;
  }
  return j;
}

json json_of(const fault& f) { return {{"code", to_string(f.code)}, {"text", f.text}}; }

json json_of(const validation_report& v) {
  json j{{"step", v.step}, {"loss", v.loss}};
  for (const auto& [name, value] : {std::pair{"perplexity", v.perplexity}, {"accuracy", v.accuracy}, {"floor", v.floor},
                                    {"entropy", v.entropy}}) {
    if (value) {
      j[name] = *value;
    }
  }
  return j;
}

/// Values that are at their default are left out, except the priority.
void add_terms(json& j, const model_report& m) {
  j["priority"] = m.priority;
  if (m.deadline) {
    j["deadline_s"] = seconds(*m.deadline);
  }
  if (m.arrival > duration{}) {
    j["arrival_s"] = seconds(m.arrival);
  }
  if (m.completed) {
    j["completed_s"] = seconds(*m.completed);
  }
}

json json_of(const model_report& m) {
  json j{{"name", m.name},
         {"family", m.family},
         {"parameters", m.parameters},
         {"cuts", m.cuts},
         {"status", status_text(m)}};
  if (m.error) {
    j["fault"] = json_of(m.error);
  }
  add_terms(j, m);
  if (m.steps_before > 0) {
    j["steps_before"] = m.steps_before;
  }
  j.update({{"steps", m.steps}, {"tokens", m.tokens}, {"seconds", seconds(m.elapsed)}, {"loss", m.loss}});
  if (!m.grad_norm.empty()) {
    j["grad_norm"] = m.grad_norm;
  }
  for (const auto& v : m.validation) {
    j["validation"].push_back(json_of(v));
  }
  if (!m.digest.empty()) {
    j["digest"] = m.digest;
  }
  return j;
}

json json_of_scheduling(const report& r) {
  return {{"decisions", r.decisions},
          {"mean_us", microseconds(r.decision_mean)},
          {"p99_us", microseconds(r.decision_p99)},
          {"replaced", r.replaced}};
}

json json_of_host(const report& r) {
  json j{{"peak_bytes", r.host_peak.value()},
         {"budget_bytes", r.host_budget.value()},
         {"optimizer_s", seconds(r.optimizer_busy)}};
  if (r.process_peak > byte_count{}) {
    j["process_peak_bytes"] = r.process_peak.value();
    j["trace_bytes"] = r.trace.value();
  }
  return j;
}

json json_of(const report& r) {
  json j{{"version", version},
         {"name", r.name},
         {"seed", r.seed},
         {"policy", r.policy},
         {"makespan_s", seconds(r.makespan)},
         {"bound_s", seconds(r.bound())},
         {"bound", r.bound_name()},
         {"efficiency", r.efficiency()},
         {"bounds", json_of(r.limits)},
         {"objectives", json_of(objectives_of(r.models))},
         {"scheduling", json_of_scheduling(r)},
         {"pilot_s", seconds(r.pilot)},
         {"load_s", seconds(r.load)},
         {"save_s", seconds(r.save)},
         {"checkpoints", {{"saved", r.checkpoints}, {"seconds", seconds(r.checkpoint_time)}}},
         {"interrupted", r.interrupted},
         {"notes", r.notes},
         {"devices", json::array()},
         {"host", json_of_host(r)},
         {"models", json::array()}};
  if (!r.callbacks_lost.empty()) {
    j["callbacks_lost"] = r.callbacks_lost;
  }
  for (const auto& d : r.devices) {
    j["devices"].push_back(json_of(d, r.makespan));
  }
  for (const auto& m : r.models) {
    j["models"].push_back(json_of(m));
  }
  return j;
}

}  // namespace

std::vector<const model_report*> ranked(const report& r) {
  std::vector<const model_report*> models;
  for (const auto& m : r.models) {
    models.push_back(&m);
  }
  std::ranges::stable_sort(models, {}, [](const model_report* m) {
    const auto loss = last_loss(*m);
    return loss && !std::isnan(*loss) ? *loss : std::numeric_limits<double>::infinity();
  });
  return models;
}

std::string tokens_per_second(const model_report& m) {
  const auto here = m.steps == 0 ? 0.0 : static_cast<double>(m.steps - m.steps_before) / m.steps;
  return m.elapsed > duration::zero() ? fmt::format("{:.0f}", here * static_cast<double>(m.tokens) / seconds(m.elapsed)) : "-";
}

std::string hit_rate(const device_report& d) {
  const auto visits = d.cache_hits + d.cache_misses;
  return visits == 0 ? "-" : percent(static_cast<double>(d.cache_hits) / static_cast<double>(visits));
}

std::string to_line(const bounds& limits) {
  std::string text = "bounds";
  for (const auto& b : limits.all()) {
    text += fmt::format("  {} {}", b.name, to_string(b.value));
  }
  return text + "\n";
}

double report::efficiency() const { return share(bound(), makespan); }

bool report::all_finished() const noexcept {
  return std::ranges::all_of(models, [](const model_report& m) { return m.status == model_status::finished; });
}

std::string to_string(model_status s) {
  switch (s) {
    case model_status::finished:
      return "finished";
    case model_status::failed:
      return "failed";
    case model_status::stopped:
      return "stopped";
    case model_status::interrupted:
      return "interrupted";
    case model_status::under_way:
      return "not ended";
  }
  return "unknown status";
}

std::string status_text(const model_report& m) { return to_string(m.status) + (m.unsaved ? ", not saved" : ""); }

std::string to_table(const report& r) {
  return model_table(r) + "\n" + device_table(r) + "\n" + breakdown_table(r) + "\n" + closing_lines(r);
}

std::string to_json(const report& r) {
  // Texts of exceptions need not be UTF-8: an invalid character must not prevent the report.
  return json_text(json_of(r), 2) + "\n";
}

void write_report(const report& r, const std::filesystem::path& file) {
  write_atomically(file, [&r](std::ostream& out) { out << to_json(r); });
}

}  // namespace hydra
