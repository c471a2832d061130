#include "apps/run_folder/recorded_run.hpp"

#include "apps/workload/path_kind.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>

namespace hydra::apps {

namespace {

using json = nlohmann::ordered_json;

[[noreturn]] void refuse_report(const std::string& name, const std::string& what) {
  throw fault_error{fault_code::bad_input, fmt::format("{}: {}", name, what)};
}

// -- values: an absent value keeps its default ------------------------------------------------------------------------

template <class T>
void read(const json& j, const char* key, T& into) {
  if (const auto found = j.find(key); found != j.end()) into = found->get<T>();
}

void read(const json& j, const char* key, duration& into) {
  double s = seconds(into);
  read(j, key, s);
  into = duration{std::llround(s * 1e9)};
}

void read(const json& j, const char* key, byte_count& into) {
  std::uint64_t n = into.value();
  read(j, key, n);
  into = byte_count{n};
}

/// JSON has no NaN: it was written as null.
double number_or_nan(const json& j) { return j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>(); }

void read_number(const json& j, const char* key, double& into) {
  if (const auto found = j.find(key); found != j.end()) into = number_or_nan(*found);
}

std::vector<float> read_curve(const json& j, const char* key) {
  std::vector<float> curve;
  if (const auto found = j.find(key); found != j.end())
    for (const json& v : *found) curve.push_back(static_cast<float>(number_or_nan(v)));
  return curve;
}

/// An empty object where there is none; throws for anything else.
const json& object_of(const json& j, const char* key) {
  static const json none = json::object();
  const auto found = j.find(key);
  if (found == j.end()) return none;
  static_cast<void>(found->get_ref<const json::object_t&>());
  return *found;
}

/// Objects, or nothing where there is none; throws for anything else.
const json::array_t& list_of(const json& j, const char* key) {
  static const json::array_t none;
  const auto found = j.find(key);
  if (found == j.end()) return none;
  for (const json& each : *found) static_cast<void>(each.get_ref<const json::object_t&>());
  return found->get_ref<const json::array_t&>();
}

/// {"work_s": 1.5, "chain_s": 2} in its order.
std::vector<named_seconds> read_parts(const json& j) {
  std::vector<named_seconds> parts;
  for (const auto& [key, v] : j.items()) {
    const std::string name = key.ends_with("_s") ? key.substr(0, key.size() - 2) : key;
    if (v.is_number()) parts.push_back({name, v.get<double>()});
  }
  return parts;
}

duration duration_of(const std::vector<named_seconds>& parts, std::string_view name) {
  for (const named_seconds& p : parts)
    if (p.name == name) return duration{std::llround(p.seconds * 1e9)};
  return {};
}

time_breakdown breakdown_of(const std::vector<named_seconds>& parts) {
  return {.compute = duration_of(parts, "compute"),
          .exposed_h2d = duration_of(parts, "exposed_h2d"),
          .exposed_d2h = duration_of(parts, "exposed_d2h"),
          .optimizer = duration_of(parts, "optimizer"),
          .predecessor = duration_of(parts, "predecessor"),
          .no_unit = duration_of(parts, "no_unit"),
          .actors = duration_of(parts, "actors")};
}

// -- parts of the report ----------------------------------------------------------------------------------------------

precision read_precision(const json& j) {
  std::string name;
  read(j, "precision", name);
  return name == to_string(precision::bf16) ? precision::bf16 : precision::fp32;
}

device_report read_device(const json& j) {
  device_report d;
  read(j, "name", d.name);
  read(j, "kind", d.kind);
  read(j, "model", d.model);
  d.numbers = read_precision(j);
  read(j, "speed", d.speed);
  read(j, "busy_s", d.busy);
  read(j, "exposed_transfer_s", d.exposed_transfer);
  d.time = breakdown_of(read_parts(object_of(j, "blame")));
  read(j, "h2d_bytes", d.h2d_bytes);
  read(j, "d2h_bytes", d.d2h_bytes);
  read(j, "cache_hits", d.cache_hits);
  read(j, "cache_misses", d.cache_misses);
  read(j, "peak_bytes", d.peak);
  read(j, "budget_bytes", d.budget);
  read(j, "reserve_bytes", d.reserve);
  read(j, "lost", d.lost);
  return d;
}

void read_status(const json& j, model_report& m) {
  std::string name = "finished";
  read(j, "status", name);
  for (const auto s : {model_status::finished, model_status::failed, model_status::stopped, model_status::interrupted})
    for (const bool unsaved : {false, true}) {
      m.status = s;
      m.unsaved = unsaved;
      if (status_text(m) == name) return;
    }
  m.status = model_status::failed;
  m.unsaved = false;
}

fault read_fault(const json& j) {
  fault f;
  std::string code;
  read(j, "code", code);
  read(j, "text", f.text);
  for (int c = 0; c <= static_cast<int>(fault_code::internal); ++c)
    if (code == to_string(static_cast<fault_code>(c))) f.code = static_cast<fault_code>(c);
  return f;
}

std::optional<double> read_optional(const json& j, const char* key) {
  const auto found = j.find(key);
  return found == j.end() ? std::nullopt : std::optional(number_or_nan(*found));
}

validation_report read_validation(const json& j) {
  validation_report v;
  read(j, "step", v.step);
  read_number(j, "loss", v.loss);
  v.perplexity = read_optional(j, "perplexity");
  v.accuracy = read_optional(j, "accuracy");
  v.floor = read_optional(j, "floor");
  v.entropy = read_optional(j, "entropy");
  return v;
}

model_report read_model(const json& j) {
  model_report m;
  read(j, "name", m.name);
  read(j, "family", m.family);
  read(j, "parameters", m.parameters);
  read(j, "cuts", m.cuts);
  read_status(j, m);
  m.error = read_fault(object_of(j, "fault"));
  read(j, "steps", m.steps);
  read(j, "steps_before", m.steps_before);
  read(j, "tokens", m.tokens);
  read(j, "seconds", m.elapsed);
  m.loss = read_curve(j, "loss");
  m.grad_norm = read_curve(j, "grad_norm");
  for (const json& v : list_of(j, "validation")) m.validation.push_back(read_validation(v));
  read(j, "digest", m.digest);
  read(j, "priority", m.priority);
  read(j, "arrival_s", m.arrival);
  if (j.contains("deadline_s")) read(j, "deadline_s", m.deadline.emplace());
  if (j.contains("completed_s")) read(j, "completed_s", m.completed.emplace());
  return m;
}

void read_scheduling(const json& j, report& r) {
  double mean = 0, p99 = 0;
  read(j, "decisions", r.decisions);
  read(j, "mean_us", mean);
  read(j, "p99_us", p99);
  read(j, "replaced", r.replaced);
  r.decision_mean = duration{std::llround(mean * 1e3)};
  r.decision_p99 = duration{std::llround(p99 * 1e3)};
}

void read_host(const json& j, report& r) {
  read(j, "peak_bytes", r.host_peak);
  read(j, "budget_bytes", r.host_budget);
  read(j, "process_peak_bytes", r.process_peak);
  read(j, "trace_bytes", r.trace);
  read(j, "optimizer_s", r.optimizer_busy);
}

report read_summary(const json& j, const std::vector<named_seconds>& bounds) {
  report r;
  read(j, "name", r.name);
  read(j, "seed", r.seed);
  read(j, "policy", r.policy);
  read(j, "makespan_s", r.makespan);
  r.limits = {.work = duration_of(bounds, "work"),
              .chain = duration_of(bounds, "chain"),
              .uniform = duration_of(bounds, "uniform"),
              .h2d = duration_of(bounds, "h2d"),
              .d2h = duration_of(bounds, "d2h"),
              .optimizer = duration_of(bounds, "optimizer")};
  read(j, "load_s", r.load);
  read(j, "pilot_s", r.pilot);
  read(j, "save_s", r.save);
  read(j, "interrupted", r.interrupted);
  read(j, "callbacks_lost", r.callbacks_lost);
  read(j, "notes", r.notes);
  read_scheduling(object_of(j, "scheduling"), r);
  read_host(object_of(j, "host"), r);
  for (const json& d : list_of(j, "devices")) r.devices.push_back(read_device(d));
  for (const json& m : list_of(j, "models")) r.models.push_back(read_model(m));
  return r;
}

recorded_run read_run(const json& j) {
  recorded_run r;
  r.bounds = read_parts(object_of(j, "bounds"));
  r.summary = read_summary(j, r.bounds);
  read(j, "version", r.version);
  r.bound = r.summary.bound_name();
  r.bound_seconds = seconds(r.summary.bound());
  r.efficiency = r.summary.efficiency();
  read(j, "bound", r.bound);
  read(j, "bound_s", r.bound_seconds);
  read_number(j, "efficiency", r.efficiency);
  for (const json& d : list_of(j, "devices")) r.breakdown.push_back(read_parts(object_of(d, "blame")));
  return r;
}

json parsed(std::string_view text, const std::string& name) try {
  return parse_ordered_json(text);
} catch (const fault_error& e) {
  refuse_report(name, e.what_happened().text);
}

}  // namespace

recorded_run parse_report(std::string_view text, const std::string& name) {
  try {
    const json j = parsed(text, name);
    if (!j.is_object() || !j.contains("models"))
      refuse_report(name, "this is no report of a run: it has no \"models\"");
    return read_run(j);
  } catch (const json::parse_error& e) {
    refuse_report(name, fmt::format("not valid JSON at byte {} of {}; is it truncated?", e.byte, text.size()));
  } catch (const json::exception& e) {
    refuse_report(name, fmt::format("not what a run writes: {}", e.what()));
  }
}

recorded_run read_report(const std::filesystem::path& run) {
  const auto kind = kind_of(run);
  if (kind == std::filesystem::file_type::not_found) refuse_report(run.string(), "no such run folder");
  if (kind != std::filesystem::file_type::directory)
    refuse_report(run.string(), "a file; the folder of a run is expected, such as runs/quickstart");
  const auto file = run / "report.json";
  if (kind_of(file) == std::filesystem::file_type::not_found)
    refuse_report(file.string(), "no such file; a run writes it at its end");
  std::ostringstream text;
  text << open_to_read(file).rdbuf();
  return parse_report(text.str(), file.string());
}

}  // namespace hydra::apps
