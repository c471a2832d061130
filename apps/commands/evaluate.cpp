#include "apps/commands/commands.hpp"

#include "actors/report/number_text.hpp"
#include "actors/report/report_table.hpp"
#include "actors/report/text_table.hpp"
#include "actors/session/session.hpp"
#include "apps/commands/blocked_signals.hpp"
#include "apps/commands/exit_status.hpp"
#include "apps/commands/given_workload.hpp"
#include "apps/commands/interrupts.hpp"
#include "apps/commands/notes.hpp"
#include "apps/commands/shared_options.hpp"
#include "apps/run_folder/files_of_training.hpp"
#include "apps/run_folder/moved_bases.hpp"
#include "apps/run_folder/recorded_data.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/run_folder/saved_run.hpp"
#include "apps/run_folder/saved_weights.hpp"
#include "apps/workload/assemble.hpp"
#include "apps/workload/check_file.hpp"
#include "apps/workload/parse.hpp"
#include "apps/workload/workload.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/tell_line.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

struct evaluate_options {
  std::string source;
  std::vector<std::string> models;
  std::vector<std::string> plugins;
  std::vector<std::string> set;
  std::vector<std::string> bases;
  bool best = false;
  bool json = false;
};

bool is_run(const evaluate_options& o) { return kind_of(o.source) == fs::file_type::directory; }

/// Keeps only the models that were asked for.
void select(workload& w, const std::vector<std::string>& wanted) {
  for (const std::string& name : wanted) find_model(w, name);
  const auto unwanted = [&](const model_entry& m) { return std::ranges::count(wanted, m.description.name) == 0; };
  if (!wanted.empty()) std::erase_if(w.models, unwanted);
}

/// One evaluation without training, and so without optimizer state.
void only_evaluate(model_description& d) {
  d.evaluate_only = true;
  d.begins.clear();
  d.parallel = d.parallel.or_one();
  d.epochs = d.steps = 0;
  d.optimizer = sgd({});
  d.validate = validation_options{.every_steps = 0, .batches = d.validate ? d.validate->batches : 0};
  d.arrival = {};
  d.deadline.reset();
}

/// Which state of a model is evaluated, and how far its training was; that of a workload file was not trained.
struct model_state {
  std::string weights = "initial";
  std::string reached = "evaluated";
};

/// "finished", "at step 680 of 100000", "stopped at step 20 of 50".
std::string reached_by(const saved_model& m) {
  const std::uint32_t steps = steps_in(m);
  if (steps == m.steps) return hydra::to_string(model_status::finished);
  return fmt::format("{}at step {} of {}", m.standing.stopped ? "stopped " : "", steps, m.steps);
}

/// The state of each of a run's models; the others are left out with a line, unless no model has one.
std::vector<fs::path> choose_checkpoints(workload& w, const evaluate_options& o) {
  std::vector<fs::path> chosen;
  std::vector<model_entry> readable;
  std::vector<std::string> left_out;
  for (model_entry& m : w.models) try {
      chosen.push_back(checkpoint_to_read(o.source, m.description.name, o.best));
      readable.push_back(std::move(m));
    } catch (const fault_error& e) {
      if (e.what_happened().code != fault_code::bad_input || w.models.size() == 1) throw;
      left_out.push_back(fmt::format("{} is left out: {}", m.description.name, e.what_happened().text));
    }
  if (chosen.empty()) refuse(fmt::format("{}", fmt::join(left_out, "; ")));
  std::ranges::for_each(left_out, tell_line);
  w.models = std::move(readable);
  return chosen;
}

std::vector<model_state> prepare(workload& w, const evaluate_options& o) {
  const auto chosen = is_run(o) ? choose_checkpoints(w, o) : std::vector<fs::path>{};
  std::vector<model_state> states(w.models.size());
  for (std::size_t i = 0; i < w.models.size(); ++i) {
    model_entry& m = w.models[i];
    only_evaluate(m.description);
    if (chosen.empty()) continue;
    require_tokenizer_of_training(chosen[i], w.data.at(m.data).description, m.description.chain.wants());
    m.description.chain = with_checkpoint(std::move(m.description.chain), chosen[i]);
    states[i] = {chosen[i].filename().string(), reached_by(read_checkpoint(chosen[i]))};
  }
  w.controllers.clear();
  return states;
}

/// Of a run's models, unless none has a best state or the user has named them.
void leave_out_without_best(workload& w, const evaluate_options& o) {
  const auto lacks = [&](const model_entry& m) {
    return !best_checkpoint(checkpoints_of(fs::path{o.source} / "checkpoints", m.description.name));
  };
  if (!o.best || !o.models.empty() || std::ranges::all_of(w.models, lacks)) return;
  for (const model_entry& m : w.models)
    if (lacks(m))
      tell_line(fmt::format("note: {} is left out: it has no best state, because {}", m.description.name,
                            reason_without_best(o.source, m.description.name)));
  std::erase_if(w.models, lacks);
}

std::string outcome_of(const model_report& m, const model_state& s) {
  return m.status == model_status::finished ? s.reached : hydra::to_string(m.status);
}

/// "model.chain.heads", "model.NAME.adapter", ...: a checkpoint has the weights of the chain that was trained.
bool changes_chain(const std::string& path) {
  return path.starts_with("model.") &&
         std::ranges::any_of(std::array{".chain.", ".adapter.", ".freeze.", ".base.", ".parallel.pieces."},
                             [&](const char* key) { return (path + ".").find(key) != std::string::npos; });
}

void check_overrides(const std::vector<key_override>& all, const std::string& run) {
  for (const key_override& o : all)
    if (changes_chain(o.path))
      refuse(
          fmt::format("--set {}: the models of the run folder \"{}\" have the chains that were trained; evaluate a "
                      "workload file to try another",
                      o.path, run));
}

std::string text_at(const value_table& root, const std::string& path) {
  const auto* const text = content_of<std::string>(find_path(root, path));
  return text ? *text : "";
}

/// Whether samples of this kind are read without information from the training data.
bool needs_no_training(const value_table& run, const std::string& data) {
  const std::string kind = text_at(run, data + "kind");
  constexpr std::array<std::string_view, 5> texts{"text", "tokens", "chat", "alpaca", "prompt-completion"};
  return std::ranges::count(texts, kind) > 0 || (kind == "jsonl" && text_at(run, data + "label").empty());
}

/// If other data to evaluate on are given, the run's training data need not exist any more.
std::vector<key_override> without_training(std::vector<key_override> all, const value_table& recorded) {
  constexpr std::string_view given = "validation";
  const std::vector<key_override> reported = all;
  for (const key_override& o : reported) {
    const auto* const file = o.is.as<std::string>();
    if (!file || !o.path.starts_with("data.") || !o.path.ends_with(".validation")) continue;
    const std::string data = o.path.substr(0, o.path.size() - given.size());
    if (!needs_no_training(recorded, data)) continue;
    check_file(o.is.where, o.path, *file);  // before it is used in place of the training data
    all.insert(all.begin(), {data + "train", o.is});  // inserted first: an override by the user comes later and wins
  }
  return all;
}

/// What to do if the run's training data are gone and are not needed; empty otherwise.
std::string data_difference(const value_table& recorded, const fs::path& began_in,
                            const std::vector<key_override>& reported) {
  const auto* const tables = content_of<value_table>(recorded.find("data"));
  std::error_code ignored;
  for (const table_entry& e : tables ? tables->entries : std::vector<table_entry>{}) {
    const std::string data = "data." + e.key + ".", train = text_at(recorded, data + "train");
    const bool is_gone = !train.empty() && !fs::exists(began_in / train, ignored);
    if (is_gone && needs_no_training(recorded, data) &&
        std::ranges::count(reported, data + "validation", &key_override::path) == 0)
      return fmt::format("; --set {}validation=FILE evaluates on other data", data);
  }
  return "";
}

session_options options_of(const workload& w) {
  session_options s = w.options;
  s.goal = {};  // all devices
  s.output.clear();
  s.log = verbosity::quiet;
  return s;
}

std::string or_dash(const std::optional<double>& x, int digits) { return x ? number_text(*x, digits) : "-"; }

/// Loss, floor, perplexity and accuracy of the last evaluation.
std::vector<std::string> scores_of(const model_report& m) {
  if (m.validation.empty()) return {"-", "-", "-", "-"};
  const validation_report& v = m.validation.back();
  return {number_text(v.loss, 4), or_dash(v.floor, 4), or_dash(v.perplexity, 2),
          v.accuracy ? percent_text(*v.accuracy) : "-"};
}

std::string states_table(const report& r, const std::vector<model_state>& states) {
  constexpr auto right = alignment::right;
  text_table t{{{"model"},
                {"weights"},
                {"loss", right},
                {"floor", right},
                {"perplexity", right},
                {"accuracy", right},
                {"status"}}};
  for (const model_report* const ranked_model : ranked(r)) {
    const model_report& m = *ranked_model;
    const model_state& state = states[static_cast<std::size_t>(ranked_model - r.models.data())];
    std::vector<std::string> row{m.name, state.weights};
    std::ranges::copy(scores_of(m), std::back_inserter(row));
    row.push_back(outcome_of(m, state));
    t.add(std::move(row));
  }
  return t.fitted();
}

std::string to_json(const report& r, const std::vector<model_state>& states) {
  auto all = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < r.models.size(); ++i) {
    const model_report& m = r.models[i];
    nlohmann::ordered_json j{{"name", m.name}, {"weights", states[i].weights}, {"status", outcome_of(m, states[i])}};
    for (const validation_report& v : m.validation) {
      j["loss"] = v.loss;
      if (v.perplexity) j["perplexity"] = *v.perplexity;
      if (v.accuracy) j["accuracy"] = *v.accuracy;
      if (v.floor) j["floor"] = *v.floor;
    }
    all.push_back(std::move(j));
  }
  return json_text(all, 2) + "\n";
}

void require_run(const fs::path& folder) {
  refuse_run_of_program(folder);
  if (kind_of(folder / workload_file) == fs::file_type::not_found)
    refuse(
        fmt::format("\"{}\" is not a run folder: it holds no {}. Give the folder of a run, or a workload file; its "
                    "models may start from a checkpoint: chain = {{ from = \"FOLDER\" }}",
                    folder.string(), workload_file));
}

workload read_trained(const evaluate_options& o, const std::vector<key_override>& overrides) {
  const fs::path run{o.source};
  require_run(run);
  check_overrides(overrides, run.string());
  const auto data = read_recorded_data(run);
  const fs::path file = run / workload_file, began_in = data ? data->began_in : fs::path{};
  const value_table recorded = parse_toml(read_text(file, text_kind::settings), file.string());
  const moved_bases bases{o.bases};
  try {
    return read_workload_of_run(file, without_training(overrides, recorded), bases.places(began_in, run));
  } catch (const fault_error& e) {
    throw fault_error{e.what_happened().code, e.what_happened().text + data_difference(recorded, began_in, overrides)};
  }
}

workload read_source(const evaluate_options& o) {
  const std::vector<key_override> overrides = parse_overrides(o.set, o.plugins);
  return is_run(o) ? read_trained(o, overrides) : read_given_workload(o.source, overrides);
}

int evaluate(const evaluate_options& o) {
  const blocked_signals blocked;
  if (o.best && !is_run(o))
    refuse(fmt::format("--best: \"{}\" is not a run folder; a workload file has no best checkpoint", o.source));
  if (!o.bases.empty() && !is_run(o))
    refuse(fmt::format("--base: \"{}\" is not a run folder; a workload file says where its models begin", o.source));
  workload w = read_source(o);
  select(w, o.models);
  leave_out_without_best(w, o);
  const auto wanted = w.models.size();
  const auto states = prepare(w, o);
  session s{options_of(w)};
  {
    const interrupts before{blocked, "interrupted before anything was evaluated"};
    assemble(s, w);
    s.plan();
  }
  const interrupts watch{blocked, [&s] { s.interrupt(); }};
  const report r = s.run();
  fmt::print("{}", o.json ? to_json(r, states) : printable(states_table(r, states)));
  tell_notes(r.notes);
  for (const model_report& m : r.models)
    if (m.status == model_status::failed) tell_line(fmt::format("{}: {}", m.name, m.error.text));
  const exit_status status = status_of(r);
  return status == exit_status::all_done && states.size() < wanted ? exit_status::some_failed : status;
}

}  // namespace

command_action declare_evaluate(command_line& line) {
  auto o = std::make_shared<evaluate_options>();
  line.add_option("source", o->source, "run folder (the newest checkpoints), or workload file (models before training)")
      .required();
  line.add_option("models", o->models, "names; default: all");
  line.add_flag("--best", o->best,
                "the checkpoints of the best evaluations (validate.keep_best) instead of the newest");
  add_base_option(line, o->bases);
  add_plugin_option(line, o->plugins);
  add_set_option(line, o->set);
  line.add_flag("--json", o->json, "JSON on stdout instead of a table");
  return [o] { return evaluate(*o); };
}

}  // namespace hydra::apps
