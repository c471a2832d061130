#include "actors/session/session.hpp"

#include "actors/schedule/policy_host.hpp"
#include "actors/run/device_set.hpp"
#include "actors/session/device_registry.hpp"
#include "actors/admission/identity.hpp"
#include "actors/plugin/known_plugins.hpp"
#include "actors/admission/loaded_model.hpp"
#include "actors/admission/model_joiner.hpp"
#include "actors/policy/advised_policy.hpp"
#include "actors/policy/guarded_policy.hpp"
#include "actors/policy/one_at_a_time.hpp"
#include "actors/plugin/policy_actor.hpp"
#include "actors/session/policy_registry.hpp"
#include "actors/admission/prepared_model.hpp"
#include "actors/report/report_builder.hpp"
#include "actors/admission/resumption.hpp"
#include "actors/simulation/planned_instance.hpp"
#include "actors/run/launch.hpp"
#include "actors/protocol/system_config.hpp"
#include "actors/report/terminal.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/plan/plan_file.hpp"
#include "runtime/storage/atomic_file.hpp"
#include "runtime/memory/host_memory.hpp"
#include "runtime/base/interrupt_flag.hpp"
#include "runtime/base/request_queue.hpp"

#include <caf/actor_system.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <iostream>
#include <ranges>
#include <thread>
#include <utility>

namespace hydra {

namespace {

/// The share of the available host memory that a run uses by default.
byte_count default_host_memory() { return byte_count{available_host_memory().value() / 4 * 3}; }

std::size_t count_shards(const workload_plan& plan) {
  std::size_t n = 0;
  for (const auto& m : plan.models) {
    n += m.shards.size();
  }
  return n;
}

int default_optimizer_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / 2); }

/// A model that another thread adds while the run is under way. The promise is broken if no actor answers it.
struct join_request {
  model_description what;
  std::shared_ptr<std::promise<model_id>> answer;
};

/// The message to the supervisor.
add_model reported(join_request r) {
  return {std::move(r.what), [answer = std::move(r.answer)](const join_result& result) {
            if (result.why) {
              answer->set_exception(std::make_exception_ptr(fault_error(result.why)));
            } else {
              answer->set_value(result.model);
            }
          }};
}

void check_count(int count) {
  if (count < 1) {
    throw fault_error(fault_code::bad_input, fmt::format("device: count: must be at least 1, got {}", count));
  }
}

session_options checked(session_options o) {
  constexpr double most_minutes = 1e6;
  const auto minutes = o.checkpoint.every_minutes;
  if (!(minutes >= 0 && minutes <= most_minutes)) {  // false for NaN
    throw fault_error(fault_code::bad_input, fmt::format("checkpoint.every_minutes: {} is out of range; use 0 (off) to {:.0f}",
                                                         minutes, most_minutes));
  }
  return o;
}

/// Calls the factory; a fault gets the place as a prefix, if there is one.
template <class Make>
auto located(const std::string& where, const Make& make) {
  try {
    return make();
  } catch (const fault_error& e) {
    const auto& f = e.what_happened();
    throw fault_error(f.code, where.empty() ? f.text : where + ": " + f.text);
  }
}

/// The memory that blocks may use.
byte_count usable(const device_info& d) { return d.memory > d.reserve ? d.memory - d.reserve : byte_count{}; }

/// The checkpoint is of the model's end: nothing is left to compute, nothing to step.
bool is_at_end(const saved_model& saved, const sharded_model& m) {
  auto units = units_of({}, m);
  const auto standing = saved.begins(m.plan.cuts());
  if (standing.stopped) {
    units.truncate(standing.step);
  }
  const bool evaluated = standing.history.evaluated_after(standing.step);
  const auto stepped = [&](version_index v) { return v.value == units.steps(); };
  return units.at_end(units.position_in(standing.step, standing.unit, evaluated)) && std::ranges::all_of(saved.versions, stepped);
}

[[noreturn]] void refuse_late(const std::string& model) {
  throw fault_error(fault_code::refused, fmt::format("model '{}': the run has ended; add it to another session", model));
}

[[noreturn]] void refuse_parameters(const std::string& model, bool kept) {
  const auto* why =
      kept ? "a model that joined later needed their memory (raise host_memory), or the run ended before they were "
             "handed over (its report says why); read its checkpoint"
           : "session_options::keep_parameters is off; its checkpoint has them";
  throw fault_error(fault_code::refused, fmt::format("model '{}': its parameters are not there any more: {}", model, why));
}

/// A user's object, whose exceptions are caught.
std::unique_ptr<policy> guard(std::unique_ptr<policy> p) {
  if (!p) {
    throw fault_error(fault_code::bad_input, "policy: there is no object (a null pointer); give one, or a name");
  }
  return std::make_unique<guarded_policy>(std::move(p));
}

/// Models may join as long as this exists.
class open_line {
 public:
  explicit open_line(request_queue<join_request>& line) : line_(line) { line_.open(); }
  ~open_line() { line_.close(); }
  open_line(const open_line&) = delete;
  open_line& operator=(const open_line&) = delete;

 private:
  request_queue<join_request>& line_;
};

}  // namespace

struct session::state {
  explicit state(session_options o)
      : options(std::move(o)), log(make_logger(options.log)), policies(options.policies, plugins), kinds(plugins) {
    use_policy(default_policy, {});
  }

  session_options options;
  std::shared_ptr<spdlog::logger> log;
  std::shared_ptr<plugin_set> plugins = make_plugin_set();
  policy_registry policies;
  device_registry kinds;
  std::unique_ptr<policy> chosen;
  bool built_in = true;                                   ///< `chosen` is Hydra's own
  policy_actor_setup advice;                                  ///< of a policy actor, which `chosen` asks
  std::function<std::unique_ptr<policy>()> make_chosen;   ///< the last policy chosen by name that is not an actor
  std::vector<device_entry> device_entries;
  std::vector<model_description> descriptions;
  std::vector<step_callback> callbacks;
  std::vector<evaluation_callback> evaluation_callbacks;

  // set by plan()
  std::vector<device_info> machines;
  std::string setting;   ///< of the pilot
  std::vector<prepared_model> prepared;
  std::optional<workload_plan> plan;
  resumption begins;
  duration pilot_time{};
  known_rates device_updates;
  byte_count host_cap;

  // set by run()
  std::unique_ptr<device_set> devices;
  std::unique_ptr<host_arena> arena;
  std::vector<model_entry> models;
  std::unique_ptr<checkpoint_folder> checkpoints;   ///< null: nothing is saved
  std::vector<device_snapshot> snapshots;
  bool has_run = false;
  interrupt_flag interrupts;
  request_queue<join_request> joins;
  std::unique_ptr<model_joiner> joiner;
  kept_parameters kept;
  std::unique_ptr<run_metrics> metrics;             ///< null: metrics are not written
  std::vector<std::string> metrics_notes;

  model_id add(model_description model);
  void use_policy(const std::string& which, std::map<std::string, double> values);
  void use_actor(std::shared_ptr<const policy_actor_source> source);
  std::vector<forecast> forecasts(std::vector<std::unique_ptr<policy>> policies_to_try);
  void require_unplanned(const std::string& what) const;
  std::unique_ptr<device_set> make_devices() const;
  void prepare_models();
  void find_checkpoints();
  workload_plan plan_models() const;
  workload_plan plan_with(stepping_space room) const;
  std::optional<workload_plan> split_plan(stepping_space room, const workload_plan& at_home) const;
  workload_plan plan_with_checkpoints();
  void scale_remaining_times(const workload_plan& made);
  void make_plan();
  std::vector<device_info> measured_machines();
  void check_devices() const;
  sharded_model_ptr cut_model(std::size_t i) const;
  model_entry load_model(std::size_t i) const;
  void load_models();
  void make_joiner();
  void save_plan() const;
  void begin_records();
  void end_metrics();
  void keep_models(const run_record& record);
  void tell_unlocked() const;
  pipeline_options pipeline() const;
  std::unique_ptr<policy> sharp(std::unique_ptr<policy> p) const;
  int optimizer_threads() const;
  stepping_terms stepping() const;
  void retire(policy_host& home) const;
  run_setup make_setup(trace* spans, executor& updates, progress_printer* progress);
  run_record execute(trace* spans);
  void write(report& r, const run_record& record, const trace* spans) const;
};

// -- building the workload ------------------------------------------------------------------------------------------------

session::session(session_options options) : state_(std::make_unique<state>(checked(std::move(options)))) {}
session::~session() = default;

void session::add_devices(int count, const cpu_device& options) {
  check_count(count);
  for (int i = 0; i < count; ++i) {
    add_device("cpu", [options](const std::string& name) { return make_cpu_device(name, options); });
  }
}

void session::add_devices(int count, const std::string& kind, std::map<std::string, device_value> options,
                          const std::string& where) {
  check_count(count);
  const auto known = state_->kinds.find(kind);
  check_options(known, options);
  state_->require_unplanned("device");
  for (int i = 0; i < count; ++i) {
    state_->device_entries.push_back({kind, [make = known.make, options, where](const std::string& name, device_use use) {
                                        return located(where, [&] { return make({name, options, use}); });
                                      }});
  }
}

void session::add_device(std::string kind, device_factory factory) {
  state_->require_unplanned("device");
  state_->device_entries.push_back(
      {std::move(kind), [make = std::move(factory)](const std::string& name, device_use) { return make(name); }});
}

void session::use_policy(const std::string& which, std::map<std::string, double> options) {
  state_->use_policy(which, std::move(options));
}

void session::use_policy(std::unique_ptr<policy> p) {
  state_->chosen = guard(std::move(p));
  state_->advice = {};
  state_->built_in = false;
}

void session::use_policy(policy_actor_source source) {
  state_->use_actor(std::make_shared<policy_actor_source>(std::move(source)));
}

void session::load_plugin(const std::filesystem::path& file) { state_->plugins->load(file); }

void session::state::use_policy(const std::string& which, std::map<std::string, double> values) {
  const auto known = policies.find(which);
  const auto given = hydra::complete({options.seed, std::move(values)}, known.entry.options, known.entry.name);
  if (known.make_actor) {
    use_actor(known.make_actor(given));
    return;
  }
  make_chosen = [make = known.entry.make, given] { return make(given); };
  chosen = make_chosen();
  advice = {};
  built_in = known.plugin.empty();
}

void session::state::use_actor(std::shared_ptr<const policy_actor_source> source) {
  auto asks = std::make_unique<advised_policy>(source->name);
  advice = {.source = std::move(source), .asks = asks.get(), .limit = options.policies.advice, .apart = true};
  chosen = std::move(asks);
  built_in = false;
}

model_id session::add_model(model_description model) {
  validate(model);
  check_keep_best(model, state_->options.checkpoint.keep);
  auto answer = std::make_shared<std::promise<model_id>>();
  auto joined = answer->get_future();
  std::optional<model_id> before;
  const auto line = state_->joins.offer({model, std::move(answer)}, [&] { before = state_->add(model); });
  if (before) {
    return *before;
  }
  if (line == line_state::over) {
    refuse_late(model.name);
  }
  try {
    return joined.get();
  } catch (const std::future_error&) {
    refuse_late(model.name);
  }
}

model_id session::state::add(model_description model) {
  require_unplanned("model");
  if (std::ranges::find(descriptions, model.name, &model_description::name) != descriptions.end()) {
    throw fault_error(fault_code::bad_input, fmt::format("model '{}': name: another model has it already", model.name));
  }
  descriptions.push_back(std::move(model));
  return model_id{static_cast<std::uint32_t>(descriptions.size() - 1)};
}

void session::subscribe(step_callback callback) { state_->callbacks.push_back(std::move(callback)); }
void session::subscribe(evaluation_callback callback) { state_->evaluation_callbacks.push_back(std::move(callback)); }

// -- the plan -------------------------------------------------------------------------------------------------------------

void session::state::require_unplanned(const std::string& what) const {
  if (plan) {
    throw fault_error(fault_code::bad_input, "a " + what + " cannot be added after plan(): add everything first");
  }
}

std::unique_ptr<device_set> session::state::make_devices() const {
  return std::make_unique<device_set>(device_entries, log, options.stop_limit);
}

stepping_terms session::state::stepping() const {
  return {.place = options.optimizer_on, .host_threads = optimizer_threads(),
          .gaps_are_filled = descriptions.size() > machines.size()};
}

namespace {

prepared_model prepared_by(model_preparer& preparer, const model_description& m) try {
  return preparer.prepare(m);
} catch (const measuring_error& e) {
  if (e.what_happened().code != fault_code::out_of_memory) {
    throw;
  }
  throw fault_error(fault_code::does_not_fit,
                    fmt::format("model '{}': a layer of it cannot be measured: {}; make its largest layer smaller, or use "
                                "more micro_batches",
                                m.name, e.what_happened().text));
}

}  // namespace

/// On other device objects: those of the run start with empty queues and counters.
void session::state::prepare_models() {
  const auto own = make_devices();
  machines = own->infos();
  const auto numbers = common_formats(machines);
  const auto measured = own->pointers();
  pilot measures(measured, options.stall_limit);
  setting = measures.setting();
  model_preparer preparer({.seed = options.seed, .setting = setting, .numbers = numbers,
                           .stepping = stepping()},
                          [&]() -> pilot& { return measures; });
  prepared.clear();
  for (const auto& m : descriptions) {
    if (interrupts.interrupted()) {
      throw fault_error(fault_code::interrupted, "interrupted before anything was trained");
    }
    prepared.push_back(prepared_by(preparer, m));
    prepared.back().identity = identity_of(m, prepared.back(), options.seed);
    prepared.back().follows_on_device = equally_fast(machines);
  }
  pilot_time = preparer.pilot_time();
  device_updates = preparer.device_updates();
}

// -- checkpoints ----------------------------------------------------------------------------------------------------------

void session::state::find_checkpoints() {
  if (!options.resume) {
    return;
  }
  std::vector<resumed_model> all;
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    all.push_back(resumed(descriptions[i], prepared[i]));
  }
  begins = resumption(options.output / "checkpoints", std::move(all));
}

workload_plan session::state::plan_with(stepping_space room) const {
  std::vector<plan_request> requests;
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    requests.push_back(request_for(descriptions[i], prepared[i], begins.cuts_for(i, prepared[i].cuts), room));
  }
  return hydra::make_plan(requests, limits_of(machines));
}

/// Steps on devices by rates must not make a workload need more than steps on the host: no more shards, no more device
/// memory, no host memory that is not available.
workload_plan session::state::plan_models() const {
  auto at_home = plan_with(stepping_space::none);
  const auto by_rates = [](const prepared_model& p) { return p.stepping.place == optimizer_place::automatic; };
  if (std::ranges::none_of(prepared, by_rates)) {
    return at_home;
  }
  for (const auto room : {stepping_space::made, stepping_space::left}) {
    if (auto split = split_plan(room, at_home)) {
      return *std::move(split);
    }
  }
  return at_home;
}

std::optional<workload_plan> session::state::split_plan(stepping_space room, const workload_plan& at_home) const {
  try {
    auto split = plan_with(room);
    shorten_evaluations(split, host_cap, machines.size());
    if (count_shards(split) > count_shards(at_home) || split.host_needed > host_cap) {
      return std::nullopt;
    }
    split.sufficient = at_home.sufficient;
    for (std::size_t i = 0; i < split.models.size(); ++i) {
      split.models[i].sufficient = at_home.models[i].sufficient;
    }
    return split;
  } catch (const fault_error&) {
    return std::nullopt;  // with steps on the host it fits
  }
}

/// If the cuts of a checkpoint do not fit, an older one from the start of a step is resumed.
workload_plan session::state::plan_with_checkpoints() {
  try {
    return plan_models();
  } catch (const fault_error& e) {
    if (e.what_happened().code != fault_code::does_not_fit || !begins.give_up_cuts()) {
      throw;
    }
  }
  return plan_models();
}

/// Remaining times are wall times, so that a model whose copies cannot be hidden counts as longer.
void session::state::scale_remaining_times(const workload_plan& made) {
  std::vector<sharded_model_ptr> cut;
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    cut.push_back(hydra::cut_model(descriptions[i], prepared[i], made.models[i], options.seed));
  }
  const auto scales = remaining_scales(cut, machines);
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    prepared[i].remaining_scale = scales[i];
  }
}

void session::state::make_plan() {
  if (descriptions.empty()) {
    throw fault_error(fault_code::bad_input, "the workload has no model; add at least one [[model]]");
  }
  if (device_entries.empty()) {
    throw fault_error(fault_code::bad_input, "the workload has no device; add at least one [[device]]");
  }
  prepare_models();
  find_checkpoints();
  host_cap = options.host_memory > byte_count{} ? options.host_memory : default_host_memory();
  auto made = plan_with_checkpoints();
  for (const auto& note : begins.notes()) {
    log->info("{}", note);
  }
  shorten_evaluations(made, host_cap, machines.size());
  check_host(made, host_cap);
  scale_remaining_times(made);
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    made.models[i].profile = prepared[i].profile_key;
    made.profiles.emplace(prepared[i].profile_key, prepared[i].profile);
  }
  plan = std::move(made);
}

const workload_plan& session::plan() {
  if (!state_->plan) {
    state_->make_plan();
  }
  return *state_->plan;
}

/// The devices with the rates of their links, which are measured unless they are emulated.
std::vector<device_info> session::state::measured_machines() {
  const auto own = make_devices();
  const auto measured = own->pointers();
  auto infos = machines;
  const auto rates = pilot(measured, options.stall_limit).link_rates();
  for (std::size_t i = 0; i < infos.size(); ++i) {
    infos[i].link = rates[i];
  }
  return infos;
}

const std::vector<device_info>& session::devices() {
  plan();
  return state_->machines;
}

forecast session::predict() {
  plan();
  std::vector<std::unique_ptr<policy>> one;
  one.push_back(state_->make_chosen());
  return state_->forecasts(std::move(one)).front();
}

std::vector<forecast> session::predict(std::vector<std::unique_ptr<policy>> policies) {
  plan();
  std::ranges::transform(policies, policies.begin(), [](auto& p) { return guard(std::move(p)); });
  return state_->forecasts(std::move(policies));
}

/// One measurement of the links for all.
std::vector<forecast> session::state::forecasts(std::vector<std::unique_ptr<policy>> policies_to_try) {
  const auto infos = measured_machines();
  std::vector<sharded_model_ptr> cut;
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    cut.push_back(cut_model(i));
  }
  std::vector<forecast> all;
  for (auto& p : policies_to_try) {
    all.push_back(hydra::predict({.devices = infos, .models = cut, .chosen = sharp(std::move(p)),
                                  .pipeline = pipeline(), .optimizer_workers = optimizer_threads()}));
  }
  return all;
}

bool session::complete() {
  plan();
  const auto at_end = [this](std::size_t i) {
    const auto* saved = state_->begins.of(i);
    return saved && is_at_end(*saved, *state_->cut_model(i));
  };
  return std::ranges::all_of(std::views::iota(std::size_t{0}, state_->descriptions.size()), at_end);
}

// -- the run --------------------------------------------------------------------------------------------------------------

/// If other processes use a device, it may have less memory now than at planning time.
void session::state::check_devices() const {
  const auto needed = plan->staging_bytes + plan->computing_bytes;
  const auto now = devices->infos();
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (usable(now[i]) < needed) {
      throw fault_error(fault_code::does_not_fit,
                        fmt::format("device {} has {} for the run, but had {} when this was planned, of which it needs {}: "
                                    "something else has taken its memory; start again, or end what else uses it",
                                    now[i].name, to_string(usable(now[i])), to_string(usable(machines[i])), to_string(needed)));
    }
  }
}

sharded_model_ptr session::state::cut_model(std::size_t i) const {
  return hydra::cut_model(descriptions[i], prepared[i], plan->models[i], options.seed);
}

model_entry session::state::load_model(std::size_t i) const {
  const auto* saved = begins.of(i);
  const auto id = model_id{static_cast<std::uint32_t>(i)};
  auto entry = hydra::load_model(cut_model(i), prepared[i].data, saved, id, *arena);
  if (saved) {
    log->info("{} continues after step {} of {} ({})", entry.what->name, entry.standing.step, entry.what->steps,
              saved->folder.string());
  }
  return entry;
}

void session::state::load_models() {
  arena = make_host_arena(host_cap, {.lockers = devices->lockers(), .size = plan->host_transfers});
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    models.push_back(load_model(i));
  }
  if (!options.output.empty() && options.checkpoint.keep > 0) {
    checkpoints = std::make_unique<checkpoint_folder>(posix_file_system(), options.output / "checkpoints",
                                                      options.checkpoint.keep);
  }
}

void session::state::make_joiner() {
  joiner = std::make_unique<model_joiner>(joining_setup{.options = options, .devices = device_entries, .machines = machines,
                                                        .plan = *plan, .setting = setting, .device_updates = device_updates,
                                                        .arena = arena.get(), .kept = &kept, .log = log});
}

void session::state::save_plan() const {
  write_atomically(options.output / "plan.json", [this](std::ostream& out) { out << to_json(*plan); });
}

/// Files that can be read during the run. The run does not depend on them.
void session::state::begin_records() {
  if (options.output.empty()) {
    return;
  }
  try {
    save_plan();
  } catch (const fault_error& e) {
    log->warn("{}", e.what_happened().text);  // it is tried again at the end of the run, and noted
  }
  try {
    metrics = std::make_unique<run_metrics>(options.output, models, options.resume, log);
  } catch (const fault_error& e) {
    metrics_notes.push_back(fmt::format("{} is not written: {}", metrics_file, e.what_happened().text));
    log->warn("{}", metrics_notes.back());
  }
}

void session::state::end_metrics() {
  if (const auto note = metrics ? metrics->close() : ""; !note.empty()) {
    metrics_notes.push_back(note);
  }
}

/// Models that have joined are models of the session from now on. The parameters of models that ended with the run are
/// kept; their other host memory is freed with the record.
void session::state::keep_models(const run_record& record) {
  for (const auto& entry : record.joined) {
    models.push_back(entry);
    plan->models.push_back(entry.what->plan);
  }
  plan->profiles = joiner->profiles();
  for (const auto& [id, homes] : record.homes) {
    kept.keep(id, parameters_of(homes));
  }
}

/// Blocks of models that joined after the pinned pool was locked, and blocks that fit in no gap of it.
void session::state::tell_unlocked() const {
  if (const auto n = arena->unlocked_blocks(); n > 0) {
    log->info("{} blocks did not fit in the locked host memory: their copies were slower", n);
  }
}

pipeline_options session::state::pipeline() const {
  return {.double_buffer = options.ablation.double_buffer, .cache = options.ablation.cache,
          .copy_back_clean = options.ablation.copy_back_clean, .staging_bytes = plan->staging_bytes};
}

std::unique_ptr<policy> session::state::sharp(std::unique_ptr<policy> p) const {
  return options.ablation.sharp ? std::move(p) : std::make_unique<one_at_a_time>(std::move(p));
}

int session::state::optimizer_threads() const {
  return options.optimizer_threads > 0 ? options.optimizer_threads : default_optimizer_threads();
}

/// Warns of a policy actor that has not ended.
void session::state::retire(policy_host& home) const {
  if (!home.retire(options.stop_limit)) {
    log->warn("policy {}: its actor still runs {} after the run; it keeps its threads until the program ends",
              advice.source->name, to_string(options.stop_limit));
  }
}

run_setup session::state::make_setup(trace* spans, executor& updates, progress_printer* progress) {
  run_setup setup;
  setup.services = {log, spans, arena.get(), &updates, options.keep_parameters ? &kept : nullptr};
  setup.devices = devices->pointers();
  setup.models = models;
  for (auto& m : models) {
    m.memory = {};  // the run replaces its buffers, and frees them when the model has ended
  }
  setup.chosen = sharp(std::move(chosen));
  setup.advice = advice;
  setup.built_in = built_in;
  setup.stand_in = [this] { return sharp(make_policy("sharded-lrtf", 0)); };
  setup.pipeline = pipeline();
  setup.callbacks = callbacks;
  setup.evaluation_callbacks = evaluation_callbacks;
  setup.progress = progress;
  setup.metrics = metrics.get();
  setup.make_model = [this](const model_description& m, const std::set<model_id>& released) {
    return joiner->prepare(m, released);
  };
  setup.halted = [this] { joiner->cancel(); };
  setup.checkpoints = {.store = checkpoints.get(), .every_steps = options.checkpoint.every_steps,
                       .every = duration{static_cast<std::int64_t>(options.checkpoint.every_minutes * 60e9)}};
  setup.stall_limit = options.stall_limit;
  setup.callback_limit = options.stall_limit / 2;  // the other half is for the run to make progress
  setup.watch = options.watch;
  return setup;
}

run_record session::state::execute(trace* spans) {
  const auto config = make_system_config();
  auto updates = make_executor(optimizer_threads());
  const auto t = terminal_of(STDERR_FILENO);
  const auto most_models = std::clamp<std::size_t>(t.height / 2, 1, progress_options{}.most_models);
  progress_printer printer(std::cerr, {.live = t.live, .width = t.width, .most_models = most_models, .devices = machines.size()},
                           steady_clock::now());
  for (std::size_t i = 0; options.progress && i < models.size(); ++i) {
    expect(printer, models[i]);
  }
  std::promise<run_record> done;
  auto record = done.get_future();
  std::optional<policy_host> home;
  if (advice.source) {
    home.emplace(advice.source);
  }
  {
    caf::actor_system system(*config);
    auto setup = make_setup(spans, *updates, options.progress ? &printer : nullptr);
    setup.advice.source = home ? home->source() : nullptr;
    const auto actors = launch(system, std::move(setup), [&](run_record r) { done.set_value(std::move(r)); });
    interrupts.connect([supervisor = actors.supervisor] { post(supervisor, interrupt_run{}); });
    joins.connect([supervisor = actors.supervisor](join_request r) { post(supervisor, reported(std::move(r))); });
    // SUPERVISOR and REPORTER monitor each other, and the REPORTER the run: this is bounded by the stall limit, unless
    // a user's callback or a read of a file never returns.
    record.wait();
    joins.close();
    interrupts.disconnect();
    snapshots = devices->retire([this](bool hanging) { arena->end_locks(hanging); });
    updates.reset();  // the last actor handles must be destroyed before their system
  }
  if (home) {
    retire(*home);
  }
  if (options.progress) {
    printer.finish(steady_clock::now());
  }
  return record.get();
}

report session::run() {
  const open_line open(state_->joins);
  plan();
  if (std::exchange(state_->has_run, true)) {
    throw fault_error(fault_code::bad_input, "session::run() may be called once; build another session");
  }
  if (!state_->options.output.empty()) {
    std::filesystem::create_directories(state_->options.output);
  }
  const auto start = steady_clock::now();
  state_->devices = state_->make_devices();
  state_->check_devices();
  state_->load_models();
  state_->make_joiner();
  state_->begin_records();
  const auto loaded = steady_clock::now() - start;
  const auto spans = state_->options.output.empty() ? nullptr : std::make_unique<trace>();  // no one would read it
  const auto record = state_->execute(spans.get());
  state_->end_metrics();
  state_->keep_models(record);
  state_->tell_unlocked();
  auto r = build_report({&record, state_->models, state_->snapshots, state_->arena.get(), &state_->kept});
  if (!state_->options.keep_parameters) {
    state_->kept.shrink_to({});
  }
  r.name = state_->options.name;
  r.seed = state_->options.seed;
  r.load = loaded;
  r.pilot = state_->pilot_time;
  r.process_peak = process_peak_memory();
  r.trace = spans ? spans->bytes() : byte_count{};
  r.notes.insert(r.notes.begin(), state_->joiner->notes().begin(), state_->joiner->notes().end());
  r.notes.insert(r.notes.begin(), state_->begins.notes().begin(), state_->begins.notes().end());
  r.notes.insert(r.notes.end(), state_->metrics_notes.begin(), state_->metrics_notes.end());
  state_->write(r, record, spans.get());
  return r;
}

/// Each file independently: a failure does not affect the others, and the results are returned in any case. The report
/// is written last: if it exists, the others are of the same run.
void session::state::write(report& r, const run_record& record, const trace* spans) const {
  if (options.output.empty()) {
    return;
  }
  const auto attempt = [&](const std::function<void()>& step) {
    try {
      step();
    } catch (const fault_error& e) {
      r.notes.push_back(e.what_happened().text);
      ++r.unsaved;
    }
  };
  if (!record.stuck.empty()) {
    const auto file = options.output / "stuck.txt";
    attempt([&] {
      write_atomically(file, [&](std::ostream& out) { out << record.aborted.text << "\n\n" << record.stuck; });
      r.notes.push_back("state of all actors when the run was stuck: " + file.string());
    });
  }
  attempt([&] { save_plan(); });
  attempt([&] { spans->write(options.output / "trace.json"); });
  attempt([&] { write_report(r, options.output / "report.json"); });
}

void session::interrupt() { state_->interrupts.interrupt(); }

std::vector<std::pair<std::string, std::vector<float>>> session::parameters(model_id model) const {
  std::vector<std::pair<std::string, std::vector<float>>> all;
  const auto& what = *state_->models.at(model.value).what;
  const auto shards = state_->kept.of(model);
  if (state_->has_run && shards.empty()) {
    refuse_parameters(what.name, state_->options.keep_parameters);
  }
  for (std::size_t s = 0; s < shards.size(); ++s) {
    const auto values = std::as_const(*shards[s]).floats();
    for (const auto& p : what.shards[s].layout().parameters()) {
      const auto slice = values.subspan(p.offset, p.elements);
      all.emplace_back(p.name, std::vector<float>(slice.begin(), slice.end()));
    }
  }
  return all;
}

}  // namespace hydra
