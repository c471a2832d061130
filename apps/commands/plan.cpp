#include "apps/commands/commands.hpp"

#include "actors/admission/device_choice.hpp"
#include "actors/admission/planned_workload.hpp"
#include "actors/report/expense_json.hpp"
#include "actors/session/session.hpp"
#include "apps/commands/given_workload.hpp"
#include "apps/commands/pieces_needed.hpp"
#include "apps/commands/plan_inputs.hpp"
#include "apps/commands/plan_table.hpp"
#include "apps/commands/shared_options.hpp"
#include "apps/commands/written_file.hpp"
#include "apps/simulate/devices_table.hpp"
#include "apps/simulate/memory_table.hpp"
#include "apps/simulate/parallel_table.hpp"
#include "apps/workload/assemble.hpp"
#include "apps/workload/equal_trials.hpp"
#include "apps/workload/search_keys.hpp"
#include "apps/workload/workload.hpp"
#include "partition/plan/plan_file.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra::apps {

namespace {

struct plan_options {
  std::string file;
  std::optional<std::string> save;
  std::vector<std::string> plugins;
  std::vector<std::string> set;
  int rehearse = 0;  ///< steps; 0: none
  bool json = false;
};

nlohmann::ordered_json json_of(const bounds& limits) {
  nlohmann::ordered_json j;
  for (const auto& b : limits.all()) j[b.name + "_s"] = seconds(b.value);
  return j;
}

nlohmann::ordered_json json_of(std::span<const device_info> devices) {
  auto all = nlohmann::ordered_json::array();
  for (const device_info& d : devices)
    all.push_back({{"name", d.name},
                   {"kind", d.kind},
                   {"model", d.model},
                   {"precision", to_string(d.numbers)},
                   {"memory_bytes", d.memory.value()},
                   {"reserve_bytes", d.reserve.value()}});
  return all;
}

nlohmann::ordered_json json_of(const disk_room& room) {
  return {{"first_bytes", room.first.value()},
          {"most_bytes", room.most.value()},
          {"free_bytes", room.free ? nlohmann::ordered_json(room.free->value()) : nullptr}};
}

/// What the models get.
struct plan_inputs {
  std::vector<filled_samples> data;
  std::vector<model_shares> groups;
};

/// What else the plan says of the run.
struct plan_surroundings {
  std::span<const device_info> devices;
  std::optional<disk_room> room;
};

/// What other settings would bring.
struct plan_comparisons {
  std::vector<parallel_forecast> ways;
  std::vector<memory_forecast> memory;
  device_choices devices;
  run_goal goal;
  std::string currency{};  ///< may be empty
};

/// Also of a rehearsed plan they are by the times of the pilot.
std::string tables(const plan_comparisons& others, bool rehearsed) {
  const std::string all = to_table(others.ways) + to_table(others.memory) +
                          to_table(others.devices, others.goal, others.currency);
  return rehearsed && !all.empty() ? "\nby the times of the pilot, not of the rehearsal:" + all : all;
}

std::string to_json(const workload_plan& plan, const plan_inputs& inputs, const plan_surroundings& around,
                    const forecast& f, const std::optional<rehearsal_summary>& rehearsed,
                    const plan_comparisons& others, const std::vector<std::string>& notes) {
  auto j = parse_ordered_json(hydra::to_json(plan));
  j["data"] = json_of(inputs.data);
  j["groups"] = json_of(inputs.groups);
  j["devices"] = json_of(around.devices);
  if (around.room) j["disk"] = json_of(*around.room);
  j["predicted"] = {{"policy", f.policy},
                    {"makespan_s", seconds(f.makespan)},
                    {"bound_s", seconds(f.limits.best())},
                    {"bound", f.limits.best_name()},
                    {"bounds", json_of(f.limits)},
                    {"steps_divided_by", f.shortened}};
  add_expense(j["predicted"], f.spent.all);
  if (!others.currency.empty()) j["currency"] = others.currency;
  if (rehearsed)
    j["rehearsed"] = {{"steps", rehearsed->steps},
                      {"makespan_s", seconds(rehearsed->makespan)},
                      {"overhead", plan.waiting.empty() ? nlohmann::ordered_json(rehearsed->overhead) : nullptr},
                      {"spread", rehearsed->spread}};
  j["parallel"] = parallel_json(others.ways);
  j["memory"] = memory_json(others.memory);
  if (!others.devices.all.empty()) j["device_choices"] = devices_json(others.devices, others.goal);
  j["notes"] = notes;
  return json_text(j, 2) + "\n";
}

std::string note_lines(const std::vector<std::string>& notes) {
  return notes.empty() ? "" : fmt::format("notes:\n  {}\n", fmt::join(notes, "\n  "));
}

std::vector<std::string> notes_of(session& s, const workload& w) {
  std::vector<std::string> notes = s.notes();
  if (const auto search = note_on_search(w)) notes.push_back(*search);
  if (const auto equal = note_on_equal_trials(w)) notes.push_back(*equal);
  notes.insert(notes.end(), w.notes.begin(), w.notes.end());
  return notes;
}

/// What would fit is said with the reason, as far as it is by memory of devices; what each choice of devices would take
/// is shown, if none meets the deadline.
const workload_plan& plan_of(session& s, const workload& w, const plan_options& o) try {
  return s.plan();
} catch (const goal_not_met& e) {
  const std::string& currency = w.options.terms.currency;
  nlohmann::ordered_json j{{"device_choices", devices_json(e.compared, w.options.goal)}};
  if (!currency.empty()) j["currency"] = currency;
  fmt::print("{}", o.json ? json_text(j, 2) + "\n" : printable(to_table(e.compared, w.options.goal, currency)));
  throw;
} catch (const model_does_not_fit& e) {
  fault why = e.what_happened();
  why.text += pieces_needed(w, e.model, [&](const std::string& key, const std::string& number) {
    plan_options with = o;
    with.set.push_back(key + "=" + number);
    return read_given_workload(with.file, parse_overrides(with.set, with.plugins));
  });
  throw fault_error(why);
}

/// If somebody asks: they have prices or watts, or the run has a goal.
device_choices compare_devices(session& s, const workload& w, const forecast& f) {
  const expense& all = f.spent.all;
  return all.cost || all.joules || w.options.goal.is_set() ? s.compare_devices() : device_choices{};
}

int plan(const plan_options& o) {
  if (o.save) check_written_file("--save", *o.save);
  const workload w = read_given_workload(o.file, parse_overrides(o.set, o.plugins));
  session_options quiet = w.options;
  quiet.log = verbosity::quiet;
  session s{quiet};
  model_opener opener{w};
  const auto sources = assemble(s, w, opener);
  const plan_inputs inputs{fill_of(w, sources), shares_of(w, sources)};
  const workload_plan& made = plan_of(s, w, o);
  if (o.save) write_atomically(*o.save, hydra::to_json(made));
  std::optional<rehearsal_summary> rehearsed;
  if (o.rehearse > 0) rehearsed = s.rehearse(static_cast<std::uint32_t>(o.rehearse));
  const forecast f = s.predict();
  const plan_comparisons others{s.compare_parallel(), s.compare_memory(), compare_devices(s, w, f), w.options.goal,
                                w.options.terms.currency};
  const std::vector<std::string> notes = notes_of(s, w);
  const plan_surroundings around{s.devices(), s.room()};
  fmt::print("{}", o.json ? to_json(made, inputs, around, f, rehearsed, others, notes)
                          : printable(to_table(inputs.data) + to_table(inputs.groups) + to_table(made, around.devices) +
                                      to_line(around.room) +
                                      (rehearsed ? to_line(*rehearsed, made.waiting.empty()) : "") +
                                      to_lines(f, w.options.terms, rehearsed.has_value()) +
                                      tables(others, rehearsed.has_value()) + note_lines(notes)));
  return 0;
}

}  // namespace

command_action declare_plan(command_line& line) {
  auto o = std::make_shared<plan_options>();
  line.add_option("workload", o->file, "workload file (TOML)").required();
  line.add_option("--save", o->save, "file for the plan (JSON), must not exist; `cuts` of a model may name it");
  add_plugin_option(line, o->plugins);
  add_set_option(line, o->set);
  line.add_option(
          "--rehearse", o->rehearse,
          "first trains this many steps of all models (2 to 1000; 5 to 10 will do), without results, and predicts "
          "by their times")
      .within(2, 1000);
  line.add_flag("--json", o->json, "the plan as JSON on stdout instead of tables");
  return [o] { return plan(*o); };
}

}  // namespace hydra::apps
