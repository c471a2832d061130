#include "actors/session/session.hpp"

#include "actors/admission/comparisons.hpp"
#include "actors/admission/loaded_model.hpp"
#include "actors/admission/recorded_choice.hpp"
#include "actors/admission/staged_units.hpp"
#include "actors/plugin/policy_actor.hpp"
#include "actors/policy/catalog.hpp"
#include "actors/protocol/system_config.hpp"
#include "actors/report/report_builder.hpp"
#include "actors/session/session_state.hpp"
#include "partition/checkpoint/checkpoint_size.hpp"
#include "partition/checkpoint/kept_checkpoint.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/thread_supply.hpp"
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

device_entry with_terms(device_entry entry, const expense_terms& terms) {
  entry.terms = terms;
  return entry;
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

}  // namespace

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

void session::add_devices(int count, const cpu_device& options, const expense_terms& terms) {
  check_count(count);
  state_->add_devices(
      count, {"cpu", [options](const std::string& name, device_use) { return make_cpu_device(name, options); }, terms});
}

void session::add_devices(int count, const std::string& kind, const option_values& options,
                          const std::string& where, const expense_terms& terms) {
  check_count(count);
  state_->add_devices(count, with_terms(entry_of(state_->kinds.find(kind), options, where), terms));
}

void session::add_device(std::string kind, device_factory factory, const expense_terms& terms) {
  state_->add_devices(1, with_terms(own_entry(std::move(kind), std::move(factory)), terms));
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
    plan_on_chosen_devices();
    if (!note_on_devices.empty()) {
      log->info("{}", note_on_devices.front());
    }
    decide_missing_results();
    end_stopped_trials();
  }
  return *planned;
}

std::vector<std::string> session::notes() {
  auto all = state_->plan().notes();
  add_notes(all, state_->note_on_devices);
  return all;
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

run_terms session::state::terms() const {
  auto all = options.terms;
  for (const auto& entry : device_entries) {
    all.devices.push_back(entry.terms);
  }
  return all;
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
  auto f = hydra::predict(run, std::move(asked));
  f.spent = expenses_of(f.work, state_->terms());
  return f;
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

device_choices session::compare_devices() {
  state_->plan();
  auto& s = *state_;
  return s.by_goal ? s.by_goal->compared : s.compare_devices();
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
  setup.terms = terms();
  setup.expenses = files.expenses();
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
  const auto costs = terms();
  auto r = build_report({&run.record, &costs, models, run.devices, arena.get(), &kept,
                         files.expenses() ? files.expenses()->before() : shared_expense{}});
  r.name = options.name;
  r.seed = options.seed;
  r.load = load;
  r.pilot = planned->pilot_time;
  r.process_peak = process_peak_memory();
  r.trace = spans ? spans->bytes() : byte_count{};
  auto notes = planned->notes();
  add_notes(notes, note_on_devices);
  if (const auto deadline = options.goal.deadline; deadline && r.makespan > *deadline) {
    notes.push_back(fmt::format("the deadline of the run, {}, was missed: its makespan is {}", to_string(*deadline),
                                to_string(r.makespan)));
  }
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
  s.other_pieces.reset();
  s.check_search();
  if (const auto needs = s.options.begin_paused ? std::nullopt : room()) {  // of those, others decide which are trained
    if (const auto warning = check_room(*needs, s.options.output); !warning.empty()) {
      s.log->warn("{}", warning);
    }
  }
  s.files.make_folder();
  if (s.by_goal && s.files.wanted()) {
    record_choice(s.options.output, s.by_goal->all, s.by_goal->used);
  }
  for (const auto& r : s.unrecorded) {
    if (s.search.hooks.record) {
      s.search.hooks.record(r);
    }
  }
  const auto start = steady_clock::now();
  s.load();
  s.files.begin(s.planned->plan, s.models,
                {.resumed = s.options.resume,
                 .has_states = s.planned->begins.goes_on(),
                 .currency = s.options.terms.currency},
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
