#include "actors/report/search_table.hpp"

#include "actors/report/number_text.hpp"
#include "actors/report/report_table.hpp"
#include "actors/report/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra {

namespace {

constexpr std::size_t widest_value = 16;

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

std::string shortened(const std::string& value) {
  return text_width(value) <= widest_value ? value : std::string{clip(value, widest_value - 3)} + "...";
}

/// As the evaluation gave it, with its step: a largest accuracy is a smallest score. `on_nan` may ignore one that is
/// NaN.
std::string score_cell(const ranked_trial& t, search_metric metric) {
  if (!t.score) {
    return "-";
  }
  const auto score = metric == search_metric::accuracy ? percent_text(-*t.score) : number_text(*t.score, 4);
  return fmt::format("{} ({})", score, t.steps);
}

const model_report* find_model(const report& r, const ranked_trial& t) {
  const auto found = std::ranges::find(r.models, t.is.name, &model_report::name);
  return found == r.models.end() ? nullptr : &*found;
}

/// Decisions of a run that is under way may be newer than what it has reported of its models.
std::uint32_t steps_of(const model_report* m, const ranked_trial& t) {
  const bool older = !m || m->status == model_status::under_way;
  return older ? std::max(m ? m->steps : 0, t.steps) : m->steps;
}

std::string origin_of(const ranked_trial& t) {
  return t.of.empty() ? "" : fmt::format(" (from {} at step {})", t.of, t.began);
}

std::vector<std::string> row_of(const ranked_trial& t, const model_report* m, search_metric metric,
                                const std::vector<std::string>& keys) {
  std::vector<std::string> row{t.is.name, std::to_string(steps_of(m, t)), score_cell(t, metric)};
  for (auto& value : value_cells(keys, t)) {
    row.push_back(shortened(value));
  }
  row.push_back(m ? outcome(*m, t) : t.reason + origin_of(t));
  return row;
}

}  // namespace

std::vector<std::string> varied_keys(const search_ranking& s) {
  std::vector<std::string> keys;
  for (const auto& t : s.trials) {
    for (const auto& k : t.is.keys) {
      if (std::ranges::count(keys, k.key) == 0) {
        keys.push_back(k.key);
      }
    }
  }
  return keys;
}

std::vector<std::string> key_titles(const std::vector<std::string>& keys) {
  std::vector<std::string> titles;
  for (const auto& key : keys) {
    titles.push_back(std::ranges::count(keys, last_part(key), last_part) > 1 ? key : last_part(key));
  }
  return titles;
}

std::vector<std::string> value_cells(const std::vector<std::string>& keys, const ranked_trial& t) {
  std::vector<std::string> cells;
  for (const auto& key : keys) {
    const auto found = std::ranges::find(t.is.keys, key, &key_value::key);
    cells.push_back(found == t.is.keys.end() ? "-" : found->value);
  }
  return cells;
}

std::string outcome(const model_report& m, const ranked_trial& t) {
  if (m.status == model_status::failed || t.verdict == trial_verdict::go_on) {
    return outcome(m) + origin_of(t);
  }
  if (t.verdict == trial_verdict::stop) {
    return t.reason + (m.unsaved ? ", not saved" : "") + origin_of(t);
  }
  return (m.status == model_status::under_way ? t.reason : outcome(m) + ", " + t.reason) + origin_of(t);
}

std::string search_cost(const report& r, const search_ranking& s) {
  std::uint64_t trained = 0;
  for (const auto& t : s.trials) {
    const auto steps = steps_of(find_model(r, t), t);
    trained += steps - std::min(steps, t.began);
  }
  if (s.steps == 0) {
    return fmt::format("{} steps trained", trained);
  }
  const auto all = std::uint64_t{s.steps} * s.drawn;
  return fmt::format("{} of {} steps trained ({:.0f} %)", trained, all,
                     static_cast<double>(trained) / static_cast<double>(all) * 100);
}

std::string ranking_table(const report& r, const search_ranking& s) {
  std::vector<table_column> columns{
      {"model"}, {"steps", alignment::right}, {to_string(s.metric) + " (step)", alignment::right}};
  const auto keys = varied_keys(s);
  for (int later = 0; auto& title : key_titles(keys)) {
    columns.push_back({std::move(title), alignment::right, later++});
  }
  columns.push_back({"outcome"});
  text_table table{std::move(columns)};
  for (const auto& t : s.trials) {
    table.add(row_of(t, find_model(r, t), s.metric, keys));
  }
  return table.fitted() + wrap(s.rule + "; " + search_cost(r, s), widest_line, 0) + "\n";
}

}  // namespace hydra
