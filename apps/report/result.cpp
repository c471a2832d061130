#include "apps/report/result.hpp"

#include "actors/report/number_text.hpp"
#include "actors/report/progress_lines.hpp"
#include "actors/report/report_table.hpp"
#include "actors/report/search_table.hpp"
#include "actors/report/text_table.hpp"
#include "apps/run_folder/next_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace hydra::apps {

double last_loss(const model_report& m) { return m.loss.empty() ? std::nan("") : static_cast<double>(m.loss.back()); }

namespace {

/// Smaller is better; validated models come before others, the trials of a search in its order before all.
std::pair<int, double> rank_of(const recorded_run& run, std::size_t model) {
  const model_report& m = run.summary.models[model];
  if (const auto* trial = find_trial(run.search, m.name))
    return {-1, static_cast<double>(trial - run.search.trials.data())};
  const auto* const validated = best_validation(m);
  const double loss = validated ? validated->loss : last_loss(m);
  if (!std::isfinite(loss) || m.status == model_status::failed) return {2, 0};
  return {validated ? 0 : 1, loss};
}

constexpr std::size_t label_width = 12;

std::string labelled(const std::string& label, const std::string& text) {
  if (text.empty()) return "";
  return fmt::format("{:<{}}{}\n", label, label_width, wrap(text, widest_line, label_width));
}

std::string best_text(const recorded_run& run, std::size_t model) {
  const auto* const v = shown_evaluation(run, model);
  const std::string quality = v ? quality_text(*v) : "";
  return fmt::format("{}: {}{}{}", run.summary.models[model].name, score_text(run, model), quality.empty() ? "" : ", ",
                     quality);
}

/// A run that has not ended has no times of the whole.
std::string run_text(const recorded_run& run) {
  const report& r = run.summary;
  if (!run.unfinished.empty() || r.models.empty()) return "";
  std::string text = fmt::format("{} in {}", outcomes_text(r), wall_time(r));
  if (const std::string speed = tokens_per_second(r); speed != "-") text += fmt::format(", {} tokens/s", speed);
  std::vector<std::string> peaks;
  if (const auto* const d = fullest_device(r))
    peaks.push_back(fmt::format("{} of {} on {}", to_string(d->peak), to_string(d->budget), d->name));
  if (r.process_peak > byte_count{}) peaks.push_back(to_string(r.process_peak) + " in the process");
  if (!peaks.empty()) text += fmt::format("; memory peak {}", fmt::join(peaks, ", "));
  return text;
}

}  // namespace

std::vector<std::size_t> best_first(const recorded_run& run) {
  std::vector<std::size_t> order(run.summary.models.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::pair<int, double>> ranks;  // each is found once: a search may have thousands of trials
  for (const std::size_t model : order) ranks.push_back(rank_of(run, model));
  std::ranges::stable_sort(order, {}, [&](std::size_t model) { return ranks[model]; });
  return order;
}

std::optional<std::size_t> best_model(const recorded_run& run) {
  const auto order = best_first(run);
  if (order.empty() || run.summary.models[order.front()].status == model_status::failed) return std::nullopt;
  const bool has_loss =
      shown_evaluation(run, order.front()) || std::isfinite(last_loss(run.summary.models[order.front()]));
  return has_loss ? std::optional{order.front()} : std::nullopt;
}

const validation_report* shown_evaluation(const recorded_run& run, std::size_t model) {
  const model_report& m = run.summary.models[model];
  const auto* const trial = find_trial(run.search, m.name);
  if (!trial || run.search.metric != search_metric::accuracy) return best_validation(m);
  const auto at = std::ranges::find(m.validation, trial->steps, &validation_report::step);
  return at == m.validation.end() ? best_validation(m) : &*at;
}

std::string best_label(const recorded_run& run) {
  if (run.summary.models.size() == 1) return "model";
  return run.unfinished.empty() ? "best model" : "best so far";
}

std::string score_text(const recorded_run& run, std::size_t model) {
  const model_report& m = run.summary.models[model];
  if (const auto* const v = shown_evaluation(run, model))
    return fmt::format("validation {} at step {} of {}", number_text(v->loss, 4), v->step, m.steps);
  return fmt::format("training loss {} at step {}; it was not evaluated", number_text(last_loss(m), 4), m.steps);
}

std::string quality_text(const validation_report& v) {
  const std::string perplexity = v.perplexity ? "perplexity " + number_text(*v.perplexity, 2) : "";
  const std::string accuracy = v.accuracy ? "accuracy " + percent_text(*v.accuracy) : "";
  return perplexity + (perplexity.empty() || accuracy.empty() ? "" : ", ") + accuracy;
}

std::vector<std::string> told_keys(const recorded_run& run) {
  return run.search.trials.empty() ? run.settings.keys : varied_keys(run.search);
}

std::vector<std::string> told_values(const recorded_run& run, std::size_t model, const std::vector<std::string>& keys) {
  const std::string& name = run.summary.models[model].name;
  if (!run.search.trials.empty()) {
    const auto* const trial = find_trial(run.search, name);
    return trial ? value_cells(keys, *trial) : std::vector<std::string>{};
  }
  const auto known = run.settings.values.find(name);
  return known == run.settings.values.end() ? std::vector<std::string>{} : known->second;
}

std::string settings_text(const recorded_run& run, std::size_t model) {
  const auto keys = told_keys(run), titles = key_titles(keys), values = told_values(run, model, keys);
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != "-") text += (text.empty() ? "" : ", ") + titles[i] + " " + values[i];
  return text;
}

std::string outcomes_text(const report& r) {
  std::string text;
  for (const auto s : {model_status::finished, model_status::stopped, model_status::failed, model_status::interrupted,
                       model_status::paused, model_status::under_way})
    if (const auto n = std::ranges::count(r.models, s, &model_report::status); n > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, to_string(s));
  return text;
}

std::string wall_time(const report& r) {
  constexpr auto exact_below = std::chrono::seconds(10);
  const duration all = r.pilot + r.load + r.makespan + r.save;
  return all < exact_below ? to_string(all) : coarse_time(all);
}

const device_report* fullest_device(const report& r) {
  const auto filled = [](const device_report& d) {
    return d.budget > byte_count{} ? static_cast<double>(d.peak.value()) / static_cast<double>(d.budget.value()) : 0;
  };
  const auto most = std::ranges::max_element(r.devices, {}, filled);
  return most == r.devices.end() ? nullptr : &*most;
}

void add_next(recorded_run& run, const std::filesystem::path& folder) {
  const auto best = best_model(run);
  if (!best) return;
  const model_report& m = run.summary.models[*best];
  const bool ended = m.status == model_status::finished || m.status == model_status::stopped;
  if (!ended || m.unsaved) return;  // its last state is not that of a whole step, or not there
  run.next = next_commands(folder, m);
  run.note_on_next = note_on_state(folder, m);
}

std::string result_lines(const recorded_run& run) {
  const auto best = best_model(run);
  std::string text =
      best ? labelled(best_label(run), best_text(run, *best)) + labelled("settings", settings_text(run, *best)) : "";
  text += labelled("run", run_text(run)) + labelled("note", run.note_on_next);
  for (std::size_t i = 0; i < run.next.size(); ++i)  // never wrapped: they are to be copied
    text += fmt::format("{:<{}}{}\n", i == 0 ? "next" : "", label_width, run.next[i]);
  return text;
}

}  // namespace hydra::apps
