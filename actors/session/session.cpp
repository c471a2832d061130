#include "actors/session/session.hpp"

#include "actors/admission/comparisons.hpp"
#include "actors/admission/loaded_model.hpp"
#include "actors/admission/model_joiner.hpp"
#include "actors/admission/planned_workload.hpp"
#include "actors/admission/prediction.hpp"
#include "actors/admission/rehearsal.hpp"
#include "actors/admission/staged_units.hpp"
#include "actors/plugin/known_plugins.hpp"
#include "actors/plugin/policy_actor.hpp"
#include "actors/policy/catalog.hpp"
#include "actors/protocol/system_config.hpp"
#include "actors/report/report_builder.hpp"
#include "actors/report/run_files.hpp"
#include "actors/run/device_set.hpp"
#include "actors/run/execute.hpp"
#include "actors/run/run_requests.hpp"
#include "actors/run/search_setup.hpp"
#include "actors/session/device_registry.hpp"
#include "actors/session/policy_choice.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/checkpoint_size.hpp"
#include "partition/checkpoint/kept_checkpoint.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/interrupt_flag.hpp"
#include "runtime/base/presence.hpp"
#include "runtime/base/thread_supply.hpp"
#include "runtime/device/loop_threads.hpp"
#include "runtime/memory/host_memory.hpp"
#include "runtime/storage/atomic_file.hpp"
#include "runtime/storage/free_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <ranges>
#include <set>
#include <utility>

namespace hydra {

namespace {

void check_count(int count) {
  if (count < 1) {
    throw fault_error(fault_code::bad_input, fmt::format("device: count: must be at least 1, got {}", count));
  }
}

/// Memory of the host has no link, unless one is emulated.
bool crosses_link(std::span<const device_info> devices) {
  const auto crosses = [](const device_info& d) { return d.link.limited() || d.torch_device != "cpu"; };
  return std::ranges::any_of(devices, crosses);
}

constexpr auto a_policy = "session::use_policy: a policy is";

fault no_run() { return {fault_code::refused, "no run is under way: it has not begun yet, or it has ended"}; }

[[noreturn]] void refuse_parameters(const std::string& model, bool kept) {
  const auto* why =
      kept ? "a model that joined later needed their memory (raise host_memory), or the run ended before they "
             "were handed over (its report says why); read its checkpoint"
           : "session_options::keep_parameters is off; its checkpoint has them";
  throw fault_error(fault_code::refused,
                    fmt::format("model '{}': its parameters are not there any more: {}", model, why));
}

/// Why a plan cannot be made; empty: it was. Passes on that the user has interrupted it.
fault fault_of(const std::function<void()>& plan) try {
  plan();
  return {};
} catch (const fault_error& e) {
  if (e.what_happened().code == fault_code::interrupted) {
    throw;
  }
  return e.what_happened();
}

}  // namespace

struct session::state {
  explicit state(session_options o)
      : options(std::move(o)),
        log(make_logger(options.log)),
        chosen(options, plugins),
        kinds(plugins),
        files(options.output, log) {}

  session_options options;
  std::shared_ptr<spdlog::logger> log;
  loop_threads loops{optimizer_threads(options)};
  std::shared_ptr<plugin_set> plugins = make_plugin_set();
  policy_choice chosen;
  device_registry kinds;
  std::vector<device_entry> device_entries;
  std::vector<model_description> descriptions;
  run_callbacks callbacks;
  metrics_sink watcher;                             ///< of metrics.jsonl; may be null
  search_setup search;
  std::vector<search_record> recorded;              ///< what the search had decided before
  std::vector<search_record> unrecorded;            ///< of results of before that have no record; made by plan()
  interrupt_flag interrupts;
  request_line requests;
  presence running;                                 ///< of run()

  std::optional<planned_workload> planned;          ///< made by plan()
  std::vector<left_out_model> left_out;             ///< by that
  std::vector<byte_rate> link_rates;                ///< of the devices, for forecasts; empty: not measured yet
  std::optional<rehearsal> rehearsed;

  // set by run()
  std::unique_ptr<device_set> devices;
  std::unique_ptr<host_arena> arena;
  std::vector<model_entry> models;
  std::unique_ptr<checkpoint_folder> checkpoints;   ///< null: nothing is saved
  std::unique_ptr<model_joiner> joiner;
  kept_parameters kept;
  run_files files;
  bool has_run = false;

  /// Calls `change` unless run() has begun: it would have no effect then. `what`: "session::on: callbacks are".
  void set(const char* what, const std::function<void()>& change);
  void add_devices(int count, const device_entry& entry);
  model_id add(model_description model);
  void require_unplanned(const std::string& what) const;
  device_set make_devices() const { return device_set(device_entries, log, options.stop_limit); }
  planning_setup planning() const {
    return {.options = options, .models = descriptions, .devices = device_entries, .interrupts = interrupts, .log = log,
            .threads = threads_of_run()};
  }
  planned_workload& plan();
  void make_plan();
  void plan_all();
  bool set_side_by_side();
  bool fits_side_by_side();
  bool divide_layers(const model_does_not_fit& e);
  model_does_not_fit explained(const model_does_not_fit& e);
  void choose_side_by_side();
  std::optional<duration> simulated_time(const std::function<void()>& plan);
  void leave_out(const model_does_not_fit& e);
  void decide_missing_results();
  void end_stopped_trials();
  void choose_parallel(std::vector<model_description> given);
  std::vector<device_info> measured_machines();
  void divide(const parallel_choice& chosen_ways);
  void choose_staging();
  std::uint32_t most_staged_units(const planned_workload& p) const;
  /// `part`: this, or some steps of it.
  planned_run run_of(const state& part);
  planned_run whole_run();
  sharded_model_ptr cut_model(std::size_t i) const;
  void load_models();
  void open_checkpoints();
  std::size_t threads_of_run() const;
  /// Without memory at the start.
  std::set<model_id> waiting() const;
  /// How long the destructor waits for run().
  duration limit_of_end() const {
    return options.stall_limit > duration{} ? options.stall_limit : session_options{}.stall_limit;
  }
  bool saves() const { return files.wanted() && options.checkpoint.keep > 0; }
  void check_search() const;
  run_setup make_setup(trace* spans);
  void keep_models(const run_record& record);
  /// Throws unless the run has ended and had the model.
  void require_result(model_id model) const;
  void log_unlocked() const;
  void load();
  executed_run train(trace* spans, interrupt_flag& stops);
  report report_of(const executed_run& run, duration load, const trace* spans);
};

// -- building the workload --------------------------------------------------------------------------------------------

void session::state::set(const char* what, const std::function<void()>& change) {
  if (const auto line = requests.before_opening(change); line != line_state::closed) {
    throw fault_error(fault_code::refused, fmt::format("{} set before run(), and this run has {}", what,
                                                       line == line_state::open ? "begun" : "ended"));
  }
}

session::session(session_options options) : state_(std::make_unique<state>(checked(std::move(options)))) {}

session::~session() {
  auto& s = *state_;
  if (!s.running.is_there()) {
    return;
  }
  s.log->warn("a session is destroyed although run() has not returned: the run is interrupted, and awaited");
  s.interrupts.interrupt();
  if (const auto limit = s.limit_of_end(); !s.running.gone_within(limit)) {
    s.log->critical(
        "run() has not returned {} after that, and its session is being destroyed: the program ends here. Wait for "
        "run() before the session goes, and do not destroy it in a callback",
        to_string(limit));
    std::terminate();
  }
}

void session::add_devices(int count, const cpu_device& options) {
  check_count(count);
  state_->add_devices(
      count, {"cpu", [options](const std::string& name, device_use) { return make_cpu_device(name, options); }});
}

void session::add_devices(int count, const std::string& kind, const option_values& options,
                          const std::string& where) {
  check_count(count);
  state_->add_devices(count, entry_of(state_->kinds.find(kind), options, where));
}

void session::add_device(std::string kind, device_factory factory) {
  state_->add_devices(1, own_entry(std::move(kind), std::move(factory)));
}

void session::state::add_devices(int count, const device_entry& entry) {
  require_unplanned("device");
  device_entries.insert(device_entries.end(), static_cast<std::size_t>(count), entry);
}

void session::use_policy(const std::string& which, std::map<std::string, double> options) {
  state_->set(a_policy, [&] { state_->chosen.use(which, std::move(options)); });
}

void session::use_policy(std::unique_ptr<policy> p) {
  state_->set(a_policy, [&] { state_->chosen.use(std::move(p)); });
}

void session::use_policy(policy_actor_source source) {
  state_->set(a_policy, [&] { state_->chosen.use(std::make_shared<const policy_actor_source>(std::move(source))); });
}

void session::load_plugin(const std::filesystem::path& file) { state_->plugins->load(file); }

model_id session::add_model(model_description model) {
  validate(model);
  check_keep_best(model, state_->options.checkpoint.keep);
  const fault too_late{fault_code::refused,
                       fmt::format("model '{}': the run has ended; add it to another session", model.name)};
  return answered<model_id>(too_late, [&](auto answer) {
    state_->requests.offer(hydra::add_model{model, sink_of(answer)}, [&] { answer->set_value(state_->add(model)); });
  });
}

model_id session::state::add(model_description model) {
  require_unplanned("model");
  if (std::ranges::find(descriptions, model.name, &model_description::name) != descriptions.end()) {
    throw fault_error(fault_code::bad_input, fmt::format("model '{}': name: another model has it already", model.name));
  }
  descriptions.push_back(std::move(model));
  return model_id{static_cast<std::uint32_t>(descriptions.size() - 1)};
}

void session::stop(const std::string& model) { steer_and_wait(model, model_command::stop); }
void session::pause(const std::string& model) { steer_and_wait(model, model_command::pause); }
void session::resume(const std::string& model) { steer_and_wait(model, model_command::resume); }

std::filesystem::path session::keep(const std::string& model) {
  steer_and_wait(model, model_command::save);
  return keep_checkpoint(checkpoints_of(state_->options.output / "checkpoints", model));
}

void session::steer(const std::string& model, model_command what, command_sink answer, const step_share& share) {
  const auto line = state_->requests.offer(
      steer_model{model, what, contained(answer, "session::steer", state_->log), share});
  if (line != line_state::open && answer) {
    answer(no_run());
  }
}

void session::read_status(status_sink answer) {
  if (!answer) {
    return;
  }
  state_->requests.offer(hydra::read_status{contained(std::move(answer), "session::read_status", state_->log)});
}

void session::steer_and_wait(const std::string& model, model_command what) {
  answered<void>(no_run(), [&](auto answer) { steer(model, what, sink_of(std::move(answer))); });
}

void session::queue_model(model_description model, std::function<void(const fault&)> refused) {
  validate(model);
  check_keep_best(model, state_->options.checkpoint.keep);
  refused = contained(std::move(refused), "session::queue_model", state_->log);
  answered<void>(no_run(), [&](auto answer) {
    state_->requests.offer(
        hydra::add_model{std::move(model), early_sink_of(sink_of(std::move(answer)), std::move(refused))});
  });
}

void session::queue_model(model_description model, command_sink joined, command_sink refused) {
  joined = contained(std::move(joined), "session::queue_model", state_->log);
  try {
    validate(model);
    check_keep_best(model, state_->options.checkpoint.keep);
  } catch (const fault_error& e) {
    return joined(e.what_happened());
  }
  refused = contained(std::move(refused), "session::queue_model", state_->log);
  const auto line =
      state_->requests.offer(hydra::add_model{std::move(model), early_sink_of(joined, std::move(refused))});
  if (line != line_state::open) {
    joined(no_run());
  }
}

void session::copy_begun(const std::string& copy, bool joined) { state_->requests.offer(trial_copied{copy, joined}); }

void session::decided(const trial_decision& decision) { state_->requests.offer(rule_decided{decision}); }

run_status session::status() {
  if (!state_->requests.has_listener()) {
    throw fault_error(no_run());  // it would be answered when the models are loaded
  }
  return answered<run_status>(no_run(), [&](auto answer) {
    read_status([answer = std::move(answer)](run_status now) { answer->set_value(std::move(now)); });
  });
}

void session::require_callable(bool callable) {
  if (!callable) {
    throw fault_error(fault_code::bad_input, "session::on: the callback is empty: give a function");
  }
}

void session::change_callbacks(const std::function<void(run_callbacks&)>& change) {
  state_->set("session::on: callbacks are", [&] { change(state_->callbacks); });
}

void session::watch_metrics(metrics_sink sink) {
  state_->set("session::watch_metrics: a sink is",
              [&] { state_->watcher = contained(std::move(sink), "session::watch_metrics", state_->log); });
}

void session::use_search(const search_settings& settings, search_hooks hooks, std::span<const search_record> earlier) {
  state_->set("session::use_search: a search is", [] {});
  state_->search = make_search(settings, std::move(hooks), earlier);
  state_->recorded.assign(earlier.begin(), earlier.end());
}

// -- the plan ---------------------------------------------------------------------------------------------------------

void session::state::require_unplanned(const std::string& what) const {
  if (planned) {
    throw fault_error(fault_code::bad_input, "a " + what + " cannot be added after plan(): add everything first");
  }
}

const workload_plan& session::plan() { return state_->plan().plan; }

planned_workload& session::state::plan() {
  if (!planned) {
    make_plan();
    decide_missing_results();
    end_stopped_trials();
  }
  return *planned;
}

/// Models that leave it to the planner have their pieces side by side, or get more of them, until they fit. Of a run
/// that begins paused, models that do not fit are given to others.
void session::state::make_plan() {
  byte_count needed;
  for (;;) {
    try {
      plan_all();
      return choose_side_by_side();
    } catch (const model_does_not_fit& e) {
      if (fits_side_by_side()) {
        return;
      }
      const bool less = needed == byte_count{} || e.sufficient < needed;  // else what is left whole needs the most
      needed = e.sufficient;
      if (less && divide_layers(e)) {
        continue;
      }
      if (!options.begin_paused || descriptions.size() == 1) {
        throw explained(e);
      }
      leave_out(e);
    }
  }
}

/// Of the models that leave it to the planner. False: there are none.
bool session::state::set_side_by_side() {
  bool any = false;
  for (auto& m : descriptions) {
    if (m.chain.open.side_by_side && m.chain.pieces > 1) {
      m.chain = with_choice(m.chain, m.chain.pieces, true);
      any = true;
    }
  }
  return any;
}

/// The sum of the pieces does not pass through each of them then. Else nothing has changed.
bool session::state::fits_side_by_side() {
  const auto in_turn = descriptions;
  if (set_side_by_side() && !fault_of([this] { plan_all(); })) {
    return true;
  }
  descriptions = in_turn;
  return false;
}

/// Models that leave it to the planner are trained so if the simulated run is shorter, or would not be planned.
void session::state::choose_side_by_side() {
  const auto is_open = [](const model_description& m) { return m.chain.open.side_by_side && m.chain.pieces > 1; };
  if (device_entries.size() < 2 || std::ranges::none_of(descriptions, is_open)) {
    return;
  }
  const auto in_turn = std::pair{descriptions, planned};
  const auto time_in_turn = simulated_time([] {});
  const auto time_beside = simulated_time([&] {
    set_side_by_side();
    plan_all();
  });
  if (!time_in_turn || !time_beside || *time_beside >= *time_in_turn) {
    std::tie(descriptions, planned) = in_turn;
  }
}

/// Of what was planned; none if it cannot be planned or simulated.
std::optional<duration> session::state::simulated_time(const std::function<void()>& plan) {
  std::optional<duration> makespan;
  fault_of([&] {
    plan();
    makespan = predict_shortly(run_of(*this)).makespan;
  });
  return makespan;
}

/// False if no model may be divided further.
bool session::state::divide_layers(const model_does_not_fit& e) {
  bool any = false;
  for (std::size_t i = 0; i < e.pieces.size(); ++i) {
    auto& chain = descriptions[i].chain;
    if (chain.open.pieces && e.pieces[i] > 0) {
      chain = with_choice(chain, e.pieces[i], chain.side_by_side);
      any = true;
    }
  }
  return any;
}

/// With why a model that leaves its pieces to the planner is not divided: what it would be refused for in two.
model_does_not_fit session::state::explained(const model_does_not_fit& e) {
  auto why = e.what_happened();
  const auto& chain = descriptions[e.model].chain;
  if (chain.open.pieces && chain.pieces == 1) {
    const auto whole = descriptions;
    descriptions[e.model].chain = with_choice(chain, 2, chain.side_by_side);
    const auto in_two = fault_of([this] { plan_all(); });
    if (in_two.code == fault_code::bad_input) {
      why.text += fmt::format(" Layers stay whole, in spite of pieces = \"auto\": {}", in_two.text);
    }
    descriptions = whole;
  }
  model_does_not_fit all(why, e.model);
  all.sufficient = e.sufficient;
  return all;
}

void session::state::leave_out(const model_does_not_fit& e) {
  auto place = e.model;
  for (const auto& before : left_out) {  // in their order
    place += before.place <= place ? 1 : 0;
  }
  const auto next = std::ranges::upper_bound(left_out, place, {}, &left_out_model::place);
  left_out.insert(next, {place, descriptions[e.model].name, e.what_happened()});
  descriptions.erase(descriptions.begin() + static_cast<std::ptrdiff_t>(e.model));
}

void session::state::plan_all() {
  const auto given = descriptions;
  for (auto& m : descriptions) {
    m.parallel = m.parallel.or_one();
  }
  try {
    planned = plan_workload(planning());
    if (!std::ranges::all_of(given, [](const auto& m) { return m.parallel.chosen(); })) {
      choose_parallel(given);
    }
    choose_staging();
  } catch (...) {
    descriptions = given;
    planned.reset();
    throw;
  }
}

std::vector<std::string> session::notes() { return state_->plan().notes(); }

/// Trials whose checkpoints have results that were not recorded: the file could not be written, or has lost lines.
void session::state::decide_missing_results() {
  if (!search.rule) {
    return;
  }
  std::vector<trial_result> results;
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    if (const auto* saved = planned->begins.of(i)) {
      add_results(results, descriptions[i].name, saved->standing.history, search.metric);
    }
  }
  unrecorded = take_missing(search, recorded, std::move(results));
}

/// One that had given its memory to others when it was decided has not been saved as stopped.
void session::state::end_stopped_trials() {
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    if (const auto at = search.stopped.find(descriptions[i].name); at != search.stopped.end()) {
      planned->begins.end_after(i, at->second);
    }
  }
}

/// The fastest of the ways that the descriptions leave open. A model that resumes keeps its replicas: they decide
/// results.
void session::state::choose_parallel(std::vector<model_description> given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    given[i].parallel.replicas = planned->begins.of(i) ? descriptions[i].parallel.replicas : given[i].parallel.replicas;
    given[i].parallel.waves =
        planned->begins.keeps_cuts(i) ? planned->plan.models[i].waves : given[i].parallel.waves;
  }
  const auto run = run_of(*this);
  const auto ways = hydra::compare_parallel(run, open_choices(given, device_entries.size()));
  if (const auto best = choose_for_each(run, ways); best != ways.front().choice) {
    divide(best);
  }
}

void session::state::divide(const parallel_choice& chosen_ways) {
  std::ranges::transform(descriptions, chosen_ways.models, descriptions.begin(),
                         [](model_description m, const model_way& way) { return divided(std::move(m), way); });
  planned = plan_again(*planned, planning());
}

/// How many shards, and how many units a device stages.
void session::state::choose_staging() {
  std::uint32_t units = 1;
  if (most_staged_units(*planned) > 1) {
    // A node of a cluster gets models that other nodes have cut: it needs their staging bytes.
    const auto finer = options.begin_paused ? std::nullopt : choose_shards(run_of(*this));  // measures links
    if (finer) {
      divide(*finer);
    }
    units = choose_staged_units(run_of(*this));
  }
  stage_units(planned->plan, units, options.ablation, planned->machines);
}

const std::vector<left_out_model>& session::left_out() {
  plan();
  return state_->left_out;
}

const std::vector<device_info>& session::devices() { return state_->plan().machines; }

sharded_model_ptr session::state::cut_model(std::size_t i) const {
  return hydra::cut_model(descriptions[i], planned->prepared[i], planned->plan.models[i], options.seed);
}

std::vector<model_estimate> session::estimates() {
  const auto& p = state_->plan();
  std::vector<model_estimate> all;
  for (std::size_t i = 0; i < state_->descriptions.size(); ++i) {
    all.push_back(estimate_of(state_->descriptions[i], p.prepared[i], p.plan.models[i]));
    all.back().arithmetic = p.setting;
  }
  return all;
}

std::optional<disk_room> session::room() {
  plan();
  const auto& s = *state_;
  if (!s.saves()) {
    return std::nullopt;
  }
  std::vector<model_room> all;
  for (std::size_t i = 0; i < s.descriptions.size(); ++i) {
    const auto& m = s.descriptions[i];
    const bool best = m.validate && m.validate->keep_best;
    const auto of_model = checkpoints_of(s.options.output / "checkpoints", m.name);
    all.push_back({.size = checkpoint_bytes(*s.planned->prepared[i].model, m.optimizer),
                   .kept = s.options.checkpoint.keep + (best ? 1 : 0),
                   .there = s.options.resume ? saved_bytes(of_model) : byte_count{}});
  }
  return room_of(all, free_space(s.options.output));
}

bool session::complete() {
  const auto& begins = state_->plan().begins;
  const auto at_end = [&](std::size_t i) {
    const auto* saved = begins.of(i);
    return saved && is_at_end(*saved, *state_->cut_model(i));
  };
  return state_->unrecorded.empty() &&
         std::ranges::all_of(std::views::iota(std::size_t{0}, state_->descriptions.size()), at_end);
}

// -- forecasts --------------------------------------------------------------------------------------------------------

/// The devices with the rates of their links, which are measured once unless they are emulated.
std::vector<device_info> session::state::measured_machines() {
  if (link_rates.empty()) {
    const auto own = make_devices();
    const auto measured = own.pointers();
    link_rates = pilot(measured, options.stall_limit).link_rates();
  }
  auto infos = planned->machines;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    infos[i].link = link_rates[i];
  }
  return infos;
}

std::uint32_t session::state::most_staged_units(const planned_workload& p) const {
  return crosses_link(p.machines) ? chosen.depth() : 1;
}

planned_run session::state::run_of(const state& part) {
  return {.planned = *part.planned, .from = part.planning(), .devices = measured_machines(),
          .make_policy = [this] { return chosen.make(); }, .optimizer_workers = optimizer_threads(options),
          .most_staged_units = most_staged_units(*part.planned),
          .rehearsed = rehearsed ? &*rehearsed : nullptr};
}

planned_run session::state::whole_run() {
  plan();
  return run_of(*this);
}

rehearsal_summary session::rehearse(std::uint32_t steps) {
  if (steps < 2) {
    throw fault_error(fault_code::bad_input, "rehearse: at least 2 steps, because the first one is slower");
  }
  const auto& whole = state_->plan();
  auto options = state_->options;
  options.log = verbosity::quiet;
  options.output.clear();
  options.resume = options.begin_paused = options.progress = options.keep_parameters = false;
  session part{options};
  auto& p = *part.state_;
  p.device_entries = state_->device_entries;
  p.planned = first_steps(whole, steps);
  p.descriptions = first_steps(state_->descriptions, *p.planned);
  p.chosen.use(state_->chosen.make());
  trace spans;
  const open_requests open(p.requests);
  p.load();
  const auto record = p.train(&spans, state_->interrupts).record;
  for (std::size_t i = 0; i < p.descriptions.size(); ++i) {
    if (const auto& why = record.models[i].why) {
      throw fault_error(why.code, fmt::format("model '{}': {}", p.descriptions[i].name, why.text));
    }
  }
  for (std::size_t i = 0; i < record.devices.size(); ++i) {
    if (record.devices[i].lost) {
      throw fault_error(fault_code::device_lost,
                        fmt::format("device {} was lost in the rehearsal", p.planned->machines[i].name));
    }
  }
  state_->rehearsed = rehearsed_by(spans.spans(), makespan_of(record), state_->run_of(p));
  return state_->rehearsed->summary;
}

forecast session::predict(std::unique_ptr<policy> by) {
  auto run = state_->whole_run();
  const auto& chosen = state_->chosen;
  auto asked = by ? chosen.applied(guard(std::move(by))) : chosen.make();
  const auto units = slots_for(*asked, run.planned.plan.staged_units);
  stage_units(run.planned.plan, units, run.from.options.ablation, run.devices);
  return hydra::predict(run, std::move(asked));
}

forecast_setup session::simulated_plan() {
  auto setup = forecast_of_plan(state_->whole_run());
  setup.chosen = state_->chosen.make();
  return setup;
}

std::vector<parallel_forecast> session::compare_parallel() {
  const auto run = state_->whole_run();  // first: it decides what the descriptions leave open
  return hydra::compare_parallel(run, parallel_choices(state_->descriptions, state_->device_entries.size()));
}

std::vector<memory_forecast> session::compare_memory() {
  constexpr double times[]{1.25, 1.5, 2, 3, 4};
  return hydra::compare_memory(state_->whole_run(), times);
}

// -- the run ----------------------------------------------------------------------------------------------------------

std::set<model_id> session::state::waiting() const {
  if (!options.begin_paused) {
    return planned->plan.waiting;
  }
  std::set<model_id> all;
  for (std::uint32_t i = 0; i < descriptions.size(); ++i) {
    all.insert(model_id{i});
  }
  return all;
}

void session::state::open_checkpoints() {
  if (!saves()) {
    return;
  }
  const auto root = options.output / "checkpoints";
  checkpoints = std::make_unique<checkpoint_folder>(posix_file_system(), root, options.checkpoint.keep);
  for (const auto& m : descriptions) {
    const bool anew = !options.resume && !options.begin_paused;  // paused ones get checkpoints before they go on
    if (anew && forget_best(posix_file_system(), checkpoints_of(root, m.name))) {
      log->warn("{} is trained anew: its best state of before is removed", m.name);
    }
  }
}

void session::state::check_search() const {
  if (search.rule && (!options.ablation.sharp || chosen.make()->name() == "whole-model")) {
    throw fault_error(fault_code::bad_input,
                      "search: a device that trains one model to its end (policy whole-model, ablation sharp = "
                      "false) would wait for ever at a rung for models that it does not train; use another policy");
  }
  if (search.rule && search.rule->copies() && !saves()) {
    throw fault_error(fault_code::bad_input,
                      "search: trials begin from the states of others, which are saved for that: give the run a folder "
                      "and checkpoint.keep of 1 or more");
  }
  if (search.rule && !planned->plan.waiting.empty() && !saves()) {
    throw fault_error(fault_code::bad_input,
                      "search: not all models fit into host memory, so trials that wait are paused, and for that "
                      "they are saved: give the run a folder and checkpoint.keep of 1 or more, or raise [host] memory");
  }
}

void session::state::load_models() {
  arena = make_host_arena(planned->host_cap, {.lockers = devices->lockers(), .size = planned->plan.host_transfers});
  joiner = std::make_unique<model_joiner>(joining_setup{.options = options,
                                                        .devices = device_entries,
                                                        .planned = *planned,
                                                        .waiting = waiting(),
                                                        .arena = arena.get(),
                                                        .kept = &kept,
                                                        .log = log});
  models = joiner->begin(descriptions);
}

run_setup session::state::make_setup(trace* spans) {
  run_setup setup;
  setup.services = {
      log, spans, arena.get(), nullptr, options.keep_parameters ? &kept : nullptr, options.partners.get()};
  setup.devices = devices->pointers();
  setup.models = models;
  for (auto& m : models) {
    m.memory = {};  // the run replaces its buffers, and frees them when the model has ended
  }
  setup.chosen = chosen.take();
  setup.advice = chosen.advice();
  setup.built_in = chosen.built_in();
  setup.stand_in = [this] { return chosen.applied(make_policy("sharded-lrtf", 0)); };
  setup.pipeline = pipeline_of(planned->plan, options.ablation);
  setup.callbacks = callbacks;
  setup.metrics = files.metrics();
  setup.make_model = [this](admission_request r) {
    r.what.parallel = r.what.parallel.or_one();
    return joiner->prepare(r);
  };
  setup.search = search;
  setup.waiting = waiting();
  setup.begin_paused = options.begin_paused;
  setup.descriptions = descriptions;
  setup.halted = [this] { joiner->cancel(); };
  setup.checkpoints = {.store = checkpoints.get(), .every_steps = options.checkpoint.every_steps,
                       .every = duration{static_cast<std::int64_t>(options.checkpoint.every_minutes * 60e9)}};
  setup.stall_limit = options.stall_limit;
  setup.callback_limit = options.stall_limit / 2;  // the rest is for the run to show that it continues
  setup.watch = options.watch;
  return setup;
}

/// Those that have joined are models of the session from now on. Of those that ended with the run the parameters are
/// kept: what else they had at home goes with the record.
void session::state::keep_models(const run_record& record) {
  for (const auto& [id, entry] : record.joined) {
    if (id.value < models.size()) {
      models[id.value] = entry;
      continue;
    }
    models.push_back(entry);
    planned->plan.models.push_back(entry.what->plan);
  }
  planned->plan.profiles = joiner->profiles();
  for (const auto& [id, homes] : record.homes) {
    kept.keep(id, parameters_of(homes));
  }
}

/// Blocks of models that joined when the pinned pool had no place left, and those that fit in no gap of it.
void session::state::log_unlocked() const {
  if (const auto n = arena->unlocked_blocks(); n > 0) {
    log->info("{} blocks did not fit in the locked host memory: their copies were slower", n);
  }
}

report session::state::report_of(const executed_run& run, duration load, const trace* spans) {
  auto r = build_report({&run.record, models, run.devices, arena.get(), &kept});
  r.name = options.name;
  r.seed = options.seed;
  r.load = load;
  r.pilot = planned->pilot_time;
  r.process_peak = process_peak_memory();
  r.trace = spans ? spans->bytes() : byte_count{};
  auto notes = planned->notes();
  add_notes(notes, joiner->notes());
  r.notes.insert(r.notes.begin(), notes.begin(), notes.end());
  return r;
}

/// Beside those of its devices and of parallel loops, which begin before: of the actor system, DATA, ADMISSION,
/// CHECKPOINTER, CONTROLLER and the file of metrics; of a policy actor its own system, RELAY, and SCHEDULER, which is
/// apart then.
std::size_t session::state::threads_of_run() const {
  const bool observed = callbacks.observed().any() || search.rule;
  const std::size_t advice = chosen.advice().source ? threads_of_system + 2 : 0;
  return threads_of_system + 2 + (saves() ? 1 : 0) + (observed ? 1 : 0) + (files.wanted() ? 1 : 0) + advice;
}

void session::state::load() {
  devices = std::make_unique<device_set>(device_entries, log, options.stop_limit);
  require_threads(threads_of_run(), "the run");
  require_planned_memory(*planned, devices->infos());
  load_models();
  open_checkpoints();
}

executed_run session::state::train(trace* spans, interrupt_flag& stops) {
  return execute(make_setup(spans), {.devices = *devices,
                                     .arena = *arena,
                                     .interrupts = stops,
                                     .requests = requests,
                                     .optimizer_threads = optimizer_threads(options),
                                     .stop_limit = options.stop_limit,
                                     .progress = options.progress});
}

report session::run() {
  const presence::stay here(state_->running);
  const open_requests open(state_->requests);
  plan();
  auto& s = *state_;
  if (std::exchange(s.has_run, true)) {
    throw fault_error(fault_code::bad_input, "session::run() may be called once; build another session");
  }
  s.check_search();
  if (const auto needs = s.options.begin_paused ? std::nullopt : room()) {  // of those, others decide which are trained
    if (const auto warning = check_room(*needs, s.options.output); !warning.empty()) {
      s.log->warn("{}", warning);
    }
  }
  s.files.make_folder();
  for (const auto& r : s.unrecorded) {
    if (s.search.hooks.record) {
      s.search.hooks.record(r);
    }
  }
  const auto start = steady_clock::now();
  s.load();
  s.files.begin(s.planned->plan, s.models,
                {.goes_on = s.options.resume, .tensorboard = s.options.tensorboard, .sink = s.watcher});
  const auto load = steady_clock::now() - start;
  const auto spans = s.files.wanted() ? std::make_unique<trace>() : nullptr;  // otherwise it would be of no use
  for (const auto& model : s.options.stopped) {
    s.requests.offer(steer_model{.name = model, .what = model_command::stop, .answer = {}});
  }
  const auto run = s.train(spans.get(), s.interrupts);
  s.files.end_metrics();
  s.keep_models(run.record);
  s.log_unlocked();
  auto r = s.report_of(run, load, spans.get());
  if (!s.options.keep_parameters) {
    s.kept.shrink_to({});
  }
  s.files.write(r, run.record, s.planned->plan, spans.get());
  return r;
}

void session::interrupt() { state_->interrupts.interrupt(); }

void session::state::require_result(model_id model) const {
  const char* const why = running.is_there() ? "run() has not returned yet (session::keep() saves a model as it is now)"
                          : !has_run         ? "run() has not been called"
                                             : "";
  if (*why != 0) {
    throw fault_error(fault_code::refused,
                      fmt::format("session::parameters: they are those after the run, and {}", why));
  }
  if (model.value >= models.size()) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("session::parameters: the run had {}, and none of them has the id {}",
                                  counted(models.size(), "model"), model.value));
  }
}

std::vector<std::pair<std::string, std::vector<float>>> session::parameters(model_id model) const {
  state_->require_result(model);
  std::vector<std::pair<std::string, std::vector<float>>> all;
  const auto& what = *state_->models.at(model.value).what;
  const auto shards = state_->kept.of(model);
  if (shards.empty()) {
    refuse_parameters(what.name, state_->options.keep_parameters);
  }
  for (std::size_t s = 0; s < shards.size(); ++s) {
    const auto values = std::as_const(*shards[s]).floats();
    for (const auto& p : what.shards[s].layout().parameters()) {
      if (p.frozen) {
        continue;
      }
      const auto slice = values.subspan(p.offset, p.elements);
      all.emplace_back(p.name, std::vector<float>(slice.begin(), slice.end()));
    }
  }
  return all;
}

}  // namespace hydra
