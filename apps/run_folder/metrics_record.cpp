#include "apps/run_folder/metrics_record.hpp"

#include "actors/report/expense_file.hpp"
#include "actors/report/report_builder.hpp"
#include "actors/report/run_metrics.hpp"
#include "apps/run_folder/folder_lock.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/parse.hpp"
#include "partition/plan/plan_file.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/next_line.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <hydra/version.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>

namespace hydra::apps {

namespace {

using json = nlohmann::json;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Null stands for NaN.
double number(const json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? found->get<double>() : nan;
}

/// The models of the workload, without a step yet.
void add_models(recorded_run& run, std::string_view plan) try {
  const value_table root = parse_toml(plan, "workload.toml");
  if (const value* const name = find_path(root, "run.name")) run.summary.name = to<std::string>(*name);
  for (const value& m : sub_tables(root, "model")) {
    model_report& r = run.summary.models.emplace_back();
    r.name = to<std::string>(*std::get<value_table>(m.content).find("name"));
    if (const value* const family = find_path(std::get<value_table>(m.content), "chain.family"))
      r.family = to<std::string>(*family);
  }
} catch (const std::exception&) {
  // the lines of metrics.jsonl supply what cannot be read here
}

class metrics_reader {
 public:
  explicit metrics_reader(recorded_run& run) : run_{run} {}

  void read(const json& line) {
    if (const double time = number(line, "time"); !std::isnan(time)) last_time = time;
    model_report& m = model_named(line.at("model").get<std::string>());
    const auto step = line.at("step").get<std::uint32_t>();
    line.contains("validation") ? read_evaluation(line, step, m) : read_step(line, step, m);
  }

  double last_time = nan;   ///< of the last line that has one: those that a resume adds have none

 private:
  model_report& model_named(const std::string& name) {
    auto& all = run_.summary.models;
    if (const auto found = std::ranges::find(all, name, &model_report::name); found != all.end()) return *found;
    all.emplace_back().name = name;
    return all.back();
  }

  /// A step that is reported again removes the later steps.
  void read_step(const json& line, std::uint32_t step, model_report& m) {
    if (step == 0 || !may_follow(step, m.loss.size())) return;
    std::erase_if(m.validation, [&](const validation_report& v) { return v.step >= step; });
    m.loss.resize(step - 1, std::numeric_limits<float>::quiet_NaN());
    m.loss.push_back(static_cast<float>(number(line, "loss")));
    const auto tokens = line.value("tokens", m.tokens);
    if (const double pace = number(line, "tokens_per_s"); pace > 0 && m.steps + 1 == step) {
      m.elapsed += from_seconds(static_cast<double>(tokens - m.tokens) / pace);
    } else {
      m.steps_before = step;  // the time of the step is not known
      m.elapsed = {};
    }
    m.steps = step;
    m.tokens = tokens;
    run_.steps_in_all[m.name] = line.value("steps", 0U);
    if (const double rate = number(line, "learning_rate"); !std::isnan(rate)) run_.learning_rates[m.name] = rate;
  }

  static void read_evaluation(const json& line, std::uint32_t step, model_report& m) {
    std::erase_if(m.validation, [&](const validation_report& v) { return v.step >= step; });
    validation_report v{.step = step, .loss = number(line, "validation")};
    if (line.contains("accuracy")) v.accuracy = number(line, "accuracy");
    m.validation.push_back(v);
  }

  /// Steps without a line may be missing, but a file must not decide how much memory its lists take.
  bool may_follow(std::uint32_t step, std::size_t steps_before) {
    const std::uint32_t missing = step > steps_before ? step - static_cast<std::uint32_t>(steps_before) - 1 : 0;
    if (missing > may_be_missing_) return false;
    may_be_missing_ -= missing;
    return true;
  }

  std::uint32_t may_be_missing_ = 1 << 23;  ///< of all models, 4 bytes each
  recorded_run& run_;
};

void read_lines(recorded_run& run, std::istream& lines, metrics_reader& reader) {
  for (std::string line; next_line(lines, line);) try {
      reader.read(parse_json(line));
    } catch (const std::exception&) {
      continue;  // truncated, too long, or not a line of a run
    }
  for (model_report& m : run.summary.models) m.status = model_status::under_way;
}

bool is_file(const std::filesystem::path& path) { return kind_of(path) == std::filesystem::file_type::regular; }

/// Adds the cuts of the models that the plan has.
void add_cuts(recorded_run& run, const std::filesystem::path& plan_file) try {
  const saved_plan plan = load_plan(plan_file);
  for (model_report& m : run.summary.models)
    if (const auto found = plan.models.find(m.name); found != plan.models.end()) m.cuts = found->second.cuts;
} catch (const fault_error&) {
  // the cuts stay unknown
}

/// What the run has taken so far.
void add_expenses(report& r, const std::filesystem::path& run) try {
  if (const auto recorded = read_expenses(run)) {
    add_spent(r, {}, recorded->spent);
    r.currency = recorded->currency;
  }
} catch (const fault_error& e) {
  r.notes.push_back(e.what_happened().text);
}

bool has_report(const std::filesystem::path& run) {
  return kind_of(run / "report.json") != std::filesystem::file_type::not_found;
}

/// metrics.jsonl is absent before the first step.
std::optional<recorded_run> read_metrics(const std::filesystem::path& run) {
  const auto file = run / metrics_file, workload = run / "workload.toml";
  if (!is_file(file) && (has_report(run) || !is_file(workload))) return std::nullopt;
  const std::unique_ptr<std::istream> lines = is_file(file) ? std::make_unique<file_stream>(file) : nullptr;
  std::istringstream none;
  const std::string plan = is_file(workload) ? read_text(workload, text_kind::settings) : "";
  auto record = parse_metrics(lines ? *lines : none, plan, seconds_since_1970(), is_locked(run));
  add_cuts(record, run / "plan.json");
  add_expenses(record.summary, run);
  return record;
}

/// Steps of the model in another record; 0 if the record does not have it.
std::uint32_t steps_of(const model_report& m, const recorded_run& in) {
  const auto found = std::ranges::find(in.summary.models, m.name, &model_report::name);
  return found == in.summary.models.end() ? 0 : found->steps;
}

bool has_steps(const recorded_run& run) {
  return std::ranges::any_of(run.summary.models, [](const model_report& m) { return m.steps > 0; });
}

/// `ago`: seconds since the last line, NaN if that is not known.
std::string last_line(const recorded_run& run, double ago) {
  if (!std::isnan(ago)) return fmt::format("last line {:.0f} s ago", std::max(ago, 0.0));
  return has_steps(run) ? "its last line has no time" : "no step is reported yet";
}

bool knows_more(const recorded_run& a, const recorded_run& b) {
  return std::ranges::any_of(a.summary.models, [&](const model_report& m) { return m.steps > steps_of(m, b); });
}

}  // namespace

recorded_run parse_metrics(std::istream& lines, std::string_view plan, double now, bool running) {
  recorded_run run;
  run.version = hydra::version;
  add_models(run, plan);
  metrics_reader reader{run};
  read_lines(run, lines, reader);
  run.unfinished =
      (running ? "under way; " : "ended without a report (killed?); ") + last_line(run, now - reader.last_time);
  return run;
}

recorded_run latest_record(const std::filesystem::path& run) {
  auto metrics = read_metrics(run);
  if (metrics && !has_report(run)) return *std::move(metrics);
  if (kind_of(run) == std::filesystem::file_type::directory && !has_report(run))
    refuse(fmt::format("\"{}\" is not a run folder: it holds no workload.toml", run.string()));
  recorded_run report = read_report(run);
  return metrics && knows_more(*metrics, report) ? *std::move(metrics) : report;
}

}  // namespace hydra::apps
