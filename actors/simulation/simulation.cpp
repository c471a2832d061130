#include "actors/simulation/simulation.hpp"

#include "actors/simulation/simulated_device.hpp"
#include "actors/simulation/simulated_executor.hpp"
#include "partition/plan/plan_outline.hpp"
#include "runtime/base/log.hpp"

#include <caf/atom.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

std::unique_ptr<caf::actor_system_config> testing_config() {
  auto config = std::make_unique<caf::actor_system_config>();
  config->set("scheduler.policy", caf::atom("testing"));
  return config;
}

shard_plan plan_of(const simulated_model& m, std::size_t s) {
  const auto& shard = m.shards[s];
  shard_plan p;
  p.first_layer = s;
  p.last_layer = s + 1;
  p.parameters = shard.parameters;
  p.gradients = shard.gradients;
  p.base = shard.base;
  p.shared_base = shard.shared_base;
  p.input = s == 0 ? byte_count{} : m.shards[s - 1].activation;
  p.output = s + 1 == m.shards.size() ? byte_count{} : shard.activation;
  p.saved = s + 1 == m.shards.size() ? byte_count{} : shard.saved;
  p.forward_time = shard.forward;
  p.backward_time = shard.backward;
  p.update_time = shard.update;
  p.evaluation_time = shard.evaluate;
  p.forward = {.parameters = p.parameters,
               .first_inputs = p.input,
               .working = shard.working,
               .base = p.base,
               .write_back = shard.write_back};
  p.backward = {.parameters = p.parameters,
                .first_inputs = p.input + p.output,
                .working = shard.working,
                .base = p.base,
                .write_back = shard.write_back};
  p.evaluation = p.forward;
  if (shard.device_update) {
    p.steps_on_device = true;
    p.device_update_time = *shard.device_update;
    p.moments.assign(2, p.parameters);
  }
  return p;
}

model_entry without_bytes(const sharded_model_ptr& what) {
  return {
      .what = what, .memory = {.homes = homes_without_bytes(what->plan), .versions = {}}, .standing = {}, .data = {}};
}

/// At the checkpoint; its boundaries have room of their own.
void begin_at(model_entry& m, const model_checkpoint& begins, host_arena& arena) {
  m.memory = begins.memory;
  m.standing = begins.standing;
  const auto& step = m.what->graphs->step;
  for (auto& [id, bytes] : m.memory.boundaries) {
    const auto found = step.find(id, model_graphs::turn_of(id));
    bytes = arena.allocate(step.block(found.value().block).bytes, to_string(id));
  }
}

/// Prepares models without bytes while a run is under way.
class simulated_maker {
 public:
  simulated_maker(const simulation_setup& setup, std::vector<sharded_model_ptr> models, host_arena& arena)
      : joiners_(setup.joiners),
        saved_(setup.saved),
        models_(std::move(models)),
        cap_(setup.planned_memory),
        devices_(setup.devices.size()),
        arena_(&arena) {}

  /// Throws fault_error{does_not_fit} for a name that is not known.
  model_entry operator()(const admission_request& r) {
    models_.resize(std::max<std::size_t>(r.models, r.model.value + 1));
    auto& what = models_[r.model.value];
    what = r.model.value < r.models ? what : joiner(r.what.name);
    check_memory(r);
    auto entry = without_bytes(what);
    if (const auto saved = r.continues && saved_ ? saved_(what->name) : std::nullopt) {
      begin_at(entry, *saved, *arena_);
    }
    return entry;
  }

 private:
  sharded_model_ptr joiner(const std::string& name) const {
    const auto found = std::ranges::find(joiners_, name, &simulated_model::name);
    if (found == joiners_.end()) {
      throw fault_error(fault_code::does_not_fit, "model '" + name + "' cannot join");
    }
    return make_simulated_model(*found);
  }

  void check_memory(const admission_request& r) const {
    std::vector<model_plan> active{models_[r.model.value]->plan};
    for (std::uint32_t i = 0; i < r.models; ++i) {
      if (i != r.model.value && !r.without_memory.contains(model_id{i})) {
        active.push_back(models_[i]->plan);
      }
    }
    if (host_demand(active, devices_) > cap_) {
      throw fault_error(fault_code::out_of_memory, "model '" + r.what.name + "' does not fit beside the others");
    }
  }

  std::vector<simulated_model> joiners_;
  std::function<std::optional<model_checkpoint>(const std::string&)> saved_;
  std::vector<sharded_model_ptr> models_;  ///< by id
  byte_count cap_;
  std::size_t devices_;
  host_arena* arena_;
};

}  // namespace

std::vector<shard_home> homes_without_bytes(const model_plan& plan) {
  std::vector<shard_home> homes(plan.shards.size());
  for (std::uint32_t s = 0; s < homes.size(); ++s) {
    homes[s].moments.resize(plan.shards[s].moments.size());
    homes[s].gradients.resize(plan.shape().sums_of(s));
  }
  return homes;
}

sharded_model_ptr make_simulated_model(const simulated_model& m) {
  auto model = std::make_shared<sharded_model>();
  model->name = m.name;
  model->plan.name = m.name;
  model->plan.slot = m.slot;
  model->remaining_scale = m.remaining_scale;
  model->plan.micro_batches = m.micro_batches;
  model->plan.replicas = m.replicas;
  model->plan.waves = m.waves;
  model->plan.first_trained = m.first_trained;
  model->steps = m.steps;
  model->terms = m.terms;
  model->plan.evaluation = m.evaluation.range;
  model->evaluate_every = m.evaluation.every;
  model->keep_best = m.keep_best;
  model->update.clip_norm = m.clips ? 1.0 : 0.0;
  for (std::size_t s = 0; s < m.shards.size(); ++s) {
    model->plan.shards.push_back(plan_of(m, s));
  }
  model->graphs = graphs_of(model->plan);
  if (m.tied) {
    model->ties.push_back({.owner_shard = 0, .owner = 0, .copy_shard = m.shards.size() - 1, .copy = 0});
  }
  return model;
}

simulation::simulation(simulation_setup setup)
    : config_(testing_config()),
      system_(std::make_unique<caf::actor_system>(*config_)),
      coordinator_(dynamic_cast<caf::scheduler::test_coordinator*>(&system_->scheduler())),
      arena_(make_accounting_arena(setup.host_memory)) {
  coordinator_->clock().current_time += std::chrono::hours(1);  // zero means "no time"
  actors_ = launch(*system_, make_run_setup(std::move(setup)), [this](run_record r) { record_ = std::move(r); });
  start_run(actors_);
  scheduler_job_ = dynamic_cast<caf::resumable*>(caf::actor_cast<caf::abstract_actor*>(actors_.scheduler));
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    devices_[i]->deliver_by([actor = actors_.devices[i]](queue_kind, duration delay, const completion& c) {
      caf::delayed_anon_send(actor, delay, operation_completed{c});
    });
  }
  executor_->deliver_by([actor = actors_.optimizer](duration delay, const completion& c) {
    caf::delayed_anon_send(actor, delay, operation_completed{c});
  });
}

simulation::~simulation() {
  // Actors that have not ended (of an incomplete run) end here: no actor may outlive the objects that it points to.
  end_actors(actors_);
  for (auto& d : devices_) {
    d->deliver_by(nullptr);
  }
  executor_->deliver_by(nullptr);
  actors_ = {};
  joins_.clear();
  run();
}

run_setup simulation::make_run_setup(simulation_setup setup) {
  const auto now = [this] { return time_point(coordinator_->clock().now()); };
  for (auto& info : setup.devices) {
    devices_.push_back(std::make_unique<simulated_device>(std::move(info), now));
    devices_.back()->shake(setup.noise.share, setup.noise.seed + devices_.size());
  }
  executor_ = std::make_unique<simulated_executor>(setup.optimizer_workers, now);
  run_setup run;
  if (!setup.log) {
    setup.log = make_logger(verbosity::quiet);
    setup.log->set_level(spdlog::level::off);
  }
  run.services = {setup.log, setup.records_spans ? &spans_ : nullptr, arena_.get(), executor_.get()};
  for (const auto& d : devices_) {
    run.devices.push_back(d.get());
  }
  std::ranges::transform(setup.models, std::back_inserter(run.models),
                         [](const simulated_model& m) { return without_bytes(make_simulated_model(m)); });
  std::ranges::transform(setup.planned, std::back_inserter(run.models), without_bytes);
  for (std::size_t i = 0; i < setup.resumed.size(); ++i) {
    begin_at(run.models[i], setup.resumed[i], *arena_);
  }
  for (const auto& model : setup.waiting) {
    run.models[model.value].memory = {};
  }
  run.waiting = setup.waiting;
  run.begin_paused = setup.begin_paused;
  if (!setup.joiners.empty() || !setup.waiting.empty() || setup.saved) {
    std::vector<sharded_model_ptr> known;
    std::ranges::transform(run.models, std::back_inserter(known), &model_entry::what);
    run.make_model = simulated_maker(setup, std::move(known), *arena_);
  }
  run.chosen = std::move(setup.chosen);
  run.advice = setup.advice;
  run.pipeline = setup.pipeline;
  run.pipeline.labels = setup.records_spans;
  run.callbacks = std::move(setup.callbacks);
  run.search = std::move(setup.search);
  run.checkpoints = setup.checkpoints;
  run.callback_limit = setup.callback_limit;
  run.stall_limit = setup.stall_limit;
  run.terms = setup.costs;
  run.watch = setup.watch;
  run.detached = false;
  return run;
}

void simulation::add_model(const std::string& name) {
  model_description what;
  what.name = name;
  post(actors_.supervisor, hydra::add_model{std::move(what), [this](const join_result& r) {
         joins_.push_back(r);
         if (r.task) {
           actors_.tasks.push_back(r.task);
         }
       }});
}

void simulation::steer(const std::string& name, model_command what) {
  steer(name, what, [this](const fault& why) { answers_.push_back(why); });
}

void simulation::steer(const std::string& name, model_command what, command_sink answer) {
  post(actors_.supervisor, steer_model{name, what, std::move(answer)});
}

run_status simulation::status() {
  std::optional<run_status> status;
  post(actors_.supervisor, read_status{[&](run_status s) { status = std::move(s); }});
  run_until(now());
  if (!status) {
    throw fault_error(fault_code::refused, "the simulated run has ended");
  }
  return std::move(*status);
}

void simulation::copy_begun(const std::string& copy, bool joined) {
  post(actors_.supervisor, trial_copied{copy, joined});
}

void simulation::decided(const trial_decision& decision) { post(actors_.supervisor, rule_decided{decision}); }

bool simulation::step(std::size_t choice) {
  auto& jobs = coordinator_->jobs;
  if (!jobs.empty()) {
    std::swap(jobs.front(), jobs[choice % jobs.size()]);
    return coordinator_->try_run_once();
  }
  return let_time_pass();
}

caf::scheduled_actor* simulation::next(std::size_t choice) const {
  auto& jobs = coordinator_->jobs;
  return jobs.empty() ? nullptr : dynamic_cast<caf::scheduled_actor*>(jobs[choice % jobs.size()]);
}

bool simulation::let_time_pass() {
  // One at a time: firing all that are pending would jump the clock.
  const bool passed = coordinator_->has_pending_timeout() && coordinator_->trigger_timeout();
  for (const auto& d : devices_) {
    d->release_ended(now());
  }
  return passed;
}

void simulation::run() { run_while_pending({}); }

void simulation::run_until(time_point until) {
  run_while_pending(until);
  if (now() < until) {
    coordinator_->clock().current_time = until;
  }
}

bool simulation::is_idle() const { return !is_pending({}); }

bool simulation::is_pending(std::optional<time_point> until) const {
  const auto& timers = coordinator_->clock().schedule();
  return !coordinator_->jobs.empty() || (!timers.empty() && (!until || timers.begin()->first <= *until));
}

/// A decision is made after all other messages of its instant, in whatever order they were sent.
void simulation::run_while_pending(std::optional<time_point> until) {
  const auto& jobs = coordinator_->jobs;
  while (is_pending(until)) {
    const auto job = first_but_scheduler();
    if (job < jobs.size()) {
      step(job);
    } else if (jobs.empty() || time_out_is_due()) {
      let_time_pass();
    } else {
      step();
    }
  }
}

std::size_t simulation::first_but_scheduler() const {
  const auto& jobs = coordinator_->jobs;
  const auto is_other = [this](const caf::resumable* job) { return job != scheduler_job_; };
  return static_cast<std::size_t>(std::ranges::find_if(jobs, is_other) - jobs.begin());
}

bool simulation::time_out_is_due() const {
  const auto& timers = coordinator_->clock().schedule();
  return !timers.empty() && timers.begin()->first <= coordinator_->clock().now();
}

void simulation::kill_device(std::size_t i, duration after) {
  caf::delayed_anon_send(caf::actor_cast<caf::actor>(actors_.devices.at(i)), after,
                         caf::exit_msg{{}, caf::exit_reason::kill});
}

time_point simulation::now() const { return time_point(coordinator_->clock().now()); }

}  // namespace hydra
