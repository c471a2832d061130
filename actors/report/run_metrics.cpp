#include "actors/report/run_metrics.hpp"

#include "actors/report/expense_json.hpp"
#include "models/optimizer/schedule.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/next_line.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <utility>

namespace hydra {

namespace {

using json = nlohmann::ordered_json;

json line_of(const step_completed& e, const sharded_model& m, std::uint64_t tokens) {
  json line{{"model", e.name}, {"step", e.done}, {"steps", e.of}, {"loss", e.loss}};
  if (e.grad_norm > 0) {
    line["grad_norm"] = e.grad_norm;
  }
  line["learning_rate"] = m.update.learning_rate * schedule_factor(m.update.schedule, e.done - 1, e.of);
  line["tokens"] = tokens;
  return line;
}

json line_of(const std::string& model, const evaluation_record& e) {
  json line{{"model", model}, {"step", e.steps}, {"validation", e.loss}};
  if (e.accuracy) {
    line["accuracy"] = *e.accuracy;
  }
  return line;
}

std::string text_of(const json& line) { return json_text(line); }

struct reported_line {
  std::string model;
  std::uint32_t step = 0;
  bool evaluation = false;

  std::uint32_t& among(reported_so_far& reported) const { return evaluation ? reported.evaluated : reported.step; }
};

/// None if the line is truncated, or too long for one of a run.
std::optional<reported_line> parse_line(const std::string& text) try {
  const auto line = parse_ordered_json(text);
  return reported_line{line.at("model").get<std::string>(), line.at("step").get<std::uint32_t>(),
                       line.contains("validation")};
} catch (const std::exception&) {
  return std::nullopt;
}

std::map<std::string, reported_so_far> reported_by(const std::vector<model_entry>& models) {
  std::map<std::string, reported_so_far> all;
  for (const auto& m : models) {
    const auto& h = m.standing.history;
    all[m.what->name] = {static_cast<std::uint32_t>(h.losses.size()),
                         h.evaluations.empty() ? 0 : h.evaluations.back().steps};
  }
  return all;
}

/// Removes lines of the models after their given steps, and a truncated line. Returns the last step that each model has
/// reported.
std::map<std::string, reported_so_far> copy_lines(std::istream& in, std::ostream& out,
                                                  std::map<std::string, reported_so_far> reported) {
  std::map<std::string, reported_so_far> last;
  for (std::string text; next_line(in, text);) {
    const auto line = parse_line(text);
    if (!line || (reported.contains(line->model) && line->step > line->among(reported[line->model]))) {
      continue;
    }
    out << text << '\n';
    line->among(last[line->model]) = line->step;
  }
  return last;
}

/// What the model has reported after `last`. `shared`: as a part of another one, with rates that are not known.
std::vector<json> missing_lines(const model_entry& m, reported_so_far last, bool shared) {
  const auto& h = m.standing.history;
  std::vector<json> all;
  auto evaluation = h.evaluations.begin();
  trained_tokens tokens(m.facts.tokens);
  for (std::uint32_t i = 0; i < h.losses.size(); ++i) {
    if (i >= last.step) {
      const auto norm = i < h.grad_norms.size() ? h.grad_norms[i] : 0.0F;
      all.push_back(line_of({{}, m.what->name, i + 1, m.what->steps, h.losses[i], norm}, *m.what,
                            tokens.after(i + 1, *m.what)));
      if (shared) {
        all.back().erase("learning_rate");
      }
    }
    for (; evaluation != h.evaluations.end() && evaluation->steps <= i + 1; ++evaluation) {
      if (evaluation->steps > last.evaluated) {
        all.push_back(line_of(m.what->name, *evaluation));
      }
    }
  }
  return all;
}

/// What the file has; a stream that has failed if there is none.
std::unique_ptr<std::istream> earlier_lines(const std::filesystem::path& file) {
  if (kind_of(file) != std::filesystem::file_type::not_found) {
    return std::make_unique<file_stream>(file);
  }
  auto none = std::make_unique<std::istringstream>();
  none->setstate(std::ios::failbit);
  return none;
}

void remove_old(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::remove(file, error);
  if (error) {
    throw fault_error(fault_code::io, fmt::format("{} cannot be removed: {}", file.string(), error.message()));
  }
}

}  // namespace

run_metrics::run_metrics(const std::filesystem::path& folder, const std::vector<model_entry>& models,
                         run_metrics_options options, std::shared_ptr<spdlog::logger> log)
    : file_(folder / metrics_file), log_(std::move(log)), sink_(std::move(options.sink)) {
  for (std::uint32_t i = 0; i < models.size(); ++i) {
    tokens_.emplace(model_id{i}, trained_tokens(models[i].facts.tokens));
  }
  if (!options.goes_on) {
    remove_old(file_);
  }
  go_on_behind(models, options.goes_on);
  if (options.tensorboard) {
    const auto earlier = earlier_lines(file_);
    board_.emplace(folder, *earlier, log_);
  }
}

void run_metrics::go_on_behind(const std::vector<model_entry>& models, bool goes_on) {
  const auto in = earlier_lines(file_);
  if (!*in && std::ranges::all_of(models, [](const model_entry& m) { return m.standing.history.losses.empty(); })) {
    return;
  }
  write_atomically(file_, [&](std::ostream& out) {
    earlier_ = copy_lines(*in, out, reported_by(models));
    for (const auto& m : models) {
      for (const auto& line : missing_lines(m, earlier_[m.what->name], !goes_on)) {
        out << text_of(line) << '\n';
        if (sink_ && !goes_on) {
          sink_({m.what->name, text_of(line) + "\n", true});
        }
      }
    }
  });
}

void run_metrics::joined(model_id model, const model_entry& m) {
  const bool is_new = tokens_.insert_or_assign(model, trained_tokens(m.facts.tokens)).second;
  for (const auto& line : is_new ? missing_lines(m, earlier_[m.what->name], true) : std::vector<json>{}) {
    write(line, true);
  }
}

void run_metrics::step(const step_completed& e, const sharded_model& m, time_point now, const expense& spent) {
  auto& tokens = tokens_.try_emplace(e.model, nullptr).first->second;
  const auto before = tokens.after(e.done - 1, m), after = tokens.after(e.done, m);
  auto line = line_of(e, m, after);
  const auto [last, first] = last_step_.try_emplace(e.model, now);
  if (!first && now > last->second) {
    const auto took = seconds(now - last->second);
    line["seconds"] = took;
    line["tokens_per_s"] = std::round(static_cast<double>(after - before) / took * 10) / 10;
  }
  last->second = now;
  add_expense(line, spent);
  append(std::move(line));
}

void run_metrics::evaluation(const evaluation_completed& e, const expense& spent) {
  auto line = line_of(e.name, {e.done, e.loss, e.accuracy});
  add_expense(line, spent);
  append(std::move(line));
}

void run_metrics::append(json line) {
  line["time"] = seconds_since_1970();
  write(line);
}

void run_metrics::write(const json& line, bool before) {
  const auto text = text_of(line) + "\n";
  log_.append(file_, text);
  if (sink_) {
    sink_({line.at("model").get<std::string>(), text, before});
  }
  if (board_) {
    board_->add(line);
  }
}

std::string run_metrics::close() {
  std::vector<std::string> notes;
  for (const auto& [file, lost] : log_.close()) {
    notes.push_back(fmt::format("{} lacks {} lines: {}", file.filename().string(), lost.entries,
                                lost.why ? lost.why.text : "the disk was too slow"));
  }
  return fmt::format("{}", fmt::join(notes, "; "));
}

double seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()) / 1e3;
}

trained_tokens::trained_tokens(std::shared_ptr<const token_counts> counts) {
  if (counts) {
    counter_.emplace(std::move(counts));
  }
}

std::uint64_t trained_tokens::after(std::uint64_t steps, const sharded_model& m) {
  const auto targets =
      static_cast<std::uint64_t>(m.plan.shards.back().second_spec.elements()) * m.micro_batches_of_step();
  return counter_ ? counter_->after(steps) : targets * steps;
}

}  // namespace hydra
