#include "actors/update/optimizer.hpp"

#include "actors/protocol/guarded.hpp"
#include "partition/execute/kept_parameters.hpp"
#include "runtime/device/executor.hpp"
#include "runtime/trace/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hydra {

namespace {

/// Shards that devices step.
std::vector<bool> stepped_elsewhere(const model_plan& plan) {
  std::vector<bool> all;
  std::ranges::transform(plan.shards, std::back_inserter(all), &shard_plan::steps_on_device);
  return all;
}

/// State shared by the update jobs of one model. update_tracker ensures that concurrent jobs use different buffers.
struct model_updates {
  model_updates(sharded_model_ptr m, memory_actor home)
      : what(std::move(m)),
        tracker(what->size(), what->ties, what->update.clip_norm > 0, stepped_elsewhere(what->plan)),
        math(what),
        homes(what->size()),
        elapsed(what->size()),
        memory(std::move(home)) {}

  sharded_model_ptr what;
  update_tracker tracker;
  model_update math;
  std::vector<shard_home> homes;
  std::vector<duration> elapsed;
  memory_actor memory;
  step_index step;
  std::optional<float> norm;
  std::size_t running = 0;
  std::set<std::size_t> held;            ///< shards whose buffers a checkpoint reads
  std::vector<update_job> parked;        ///< jobs that touch them
  memory_actor holder;                   ///< is notified when no job runs

  /// Of a shard that is not under way. If devices step it, the memory manager replaces its buffers: no reference may be
  /// kept here.
  void forget(std::size_t shard) {
    homes[shard].drop_gradients();
    if (what->plan.shards[shard].steps_on_device) {
      homes[shard] = {};
    }
  }

  bool touches_held(const update_job& job) const {
    return held.contains(job.shard) || std::ranges::any_of(what->ties, [&](const tie& t) {
             return t.owner_shard == job.shard && held.contains(t.copy_shard);
           });
  }
};

/// OPTIMIZER: feeds update jobs to the executor in the order in which the next step needs their shards.
class optimizer final : public optimizer_actor::base {
 public:
  using super = optimizer_actor::base;

  optimizer(caf::actor_config& config, run_services services) : super(config), services_(std::move(services)) {}

  static constexpr const char* actor_name = "optimizer";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    return {guarded(this, &optimizer::on_step_shard),  guarded(this, &optimizer::on_resume_updates),
            guarded(this, &optimizer::on_operation_completed),
            guarded(this, &optimizer::on_hold_updates), guarded(this, &optimizer::on_shard_saved),
            guarded(this, &optimizer::on_model_saved), guarded(this, &optimizer::on_release_updates),
            guarded(this, &optimizer::on_report_state),
            guarded(this, &optimizer::on_shut_down)};
  }

  void on_exit() override {
    models_.clear();
    waiting_.clear();
    jobs_.clear();
    releases_.clear();
    digests_.clear();
  }

  void on_fault(const fault& why) {
    services_.log->error("optimizer fails: {}", why.text);
    quit(caf::exit_reason::unhandled_exception);
  }

 private:
  struct pending_job {
    model_id model;
    update_job job;
  };
  struct digest_job {
    model_id model;
    memory_actor memory;
    std::shared_ptr<std::string> digest;   ///< written by the job
  };

  void on_step_shard(const step_shard& m) {
    auto& model = model_of(m.model, m.what, m.memory);
    model->step = m.step;
    model->homes[m.shard.value] = m.home;
    submit(m.model, model->tracker.written_back(m.shard.value));
  }

  void on_resume_updates(const resume_updates& m) {
    auto& model = model_of(m.model, m.what, m.memory);
    model->step = m.step;
    model->homes = m.homes;
    for (std::size_t s = 0; s < m.updates.shards.size(); ++s) {
      if (!is_under_way(m.updates.shards[s])) {
        model->forget(s);
      }
    }
    auto norms = m.updates.norms;
    norms.resize(m.what->size());
    model->math.set_norms(std::move(norms));
    const auto next = model->tracker.resume(m.updates.shards);
    if (model->tracker.norms_known()) {
      model->norm = model->math.total_norm();
    }
    submit(m.model, next);
  }

  std::shared_ptr<model_updates>& model_of(model_id id, const sharded_model_ptr& what, const memory_actor& memory) {
    auto& model = models_[id];
    if (!model) {
      model = std::make_shared<model_updates>(what, memory);
    }
    return model;
  }

  void on_operation_completed(const operation_completed& m) {
    if (const auto digest = digests_.extract(m.what.operation.value); !digest.empty()) {
      send(digest.mapped().memory, updates_released{digest.mapped().model, *digest.mapped().digest});
      return;
    }
    const auto job = jobs_.extract(m.what.operation.value);
    if (job.empty()) {
      return;
    }
    const auto id = job.mapped().model;
    auto& model = models_.at(id);
    const auto shard = job.mapped().job.shard;
    record(m.what, *model, job.mapped().job);
    --model->running;
    model->elapsed[shard] += m.what.end - m.what.begin;
    if (m.what.error) {
      send(model->memory, shard_stepped{id, index(shard), model->step.next(), {}, {}, m.what.error});
    } else {
      finish(id, model, job.mapped().job);
    }
    tell_if_held(id, *model);
    release_if_idle(id);
    start_waiting();
  }

  // -- checkpoints ----------------------------------------------------------------------------------------------------

  void on_hold_updates(const hold_updates& m) {
    auto& model = *model_of(m.model, m.what, m.memory);
    for (std::size_t s = 0; s < model.what->size(); ++s) {
      model.held.insert(s);
    }
    model.holder = m.memory;
    tell_if_held(m.model, model);
  }

  void tell_if_held(model_id id, model_updates& model) {
    if (model.holder && model.running == 0) {
      send(std::exchange(model.holder, nullptr), updates_held{id, {model.tracker.phases(), model.math.norms()}});
    }
  }

  void on_shard_saved(const shard_saved& m) { let_go(m.model, {m.shard.value}); }

  void on_model_saved(const model_saved& m) { let_go(m.model, {}); }

  /// Of one shard, or of all: parked jobs may run.
  void let_go(model_id id, std::optional<std::size_t> shard) {
    const auto found = models_.find(id);
    if (found == models_.end()) {
      return;
    }
    const auto& model = found->second;
    if (shard) {
      model->held.erase(*shard);
    } else {
      model->held.clear();
    }
    submit(id, std::exchange(model->parked, {}));
  }

  // -- models that have ended -----------------------------------------------------------------------------------------

  void on_release_updates(const release_updates& m) {
    releases_.insert_or_assign(m.model, m);
    std::erase_if(waiting_, [&](const pending_job& p) { return p.model == m.model; });
    release_if_idle(m.model);
  }

  void release_if_idle(model_id id) {
    const auto model = models_.find(id);
    if (!releases_.contains(id) || (model != models_.end() && model->second->running > 0)) {
      return;
    }
    const auto r = releases_.extract(id).mapped();
    models_.erase(id);
    if (r.finished && r.what->model) {
      submit_digest(r);
    } else {
      send(r.memory, updates_released{id, {}});
    }
  }

  /// A job, because it takes seconds for billions of parameters.
  void submit_digest(const release_updates& r) {
    auto digest = std::make_shared<std::string>();
    const auto work = [what = r.what, parameters = r.parameters, digest] { *digest = digest_of(*what, parameters); };
    const auto t = services_.update_executor->submit(work, duration{});
    digests_.emplace(t.value, digest_job{r.model, r.memory, digest});
  }

  // -- jobs -----------------------------------------------------------------------------------------------------------

  /// A complete shard's gradients are freed at once: the host budget counts them once. (A tied copy is reported after
  /// its owner was stepped, so nothing reads them any more.)
  void finish(model_id id, const std::shared_ptr<model_updates>& model, const update_job& job) {
    const auto next = model->tracker.done(job);
    if (job.what == update_job::kind::norms && !next.empty()) {
      model->norm = model->math.total_norm();
    }
    submit(id, next);
    for (const auto shard : model->tracker.take_complete()) {
      model->forget(shard);
      send(model->memory, shard_stepped{id, index(shard), model->step.next(), model->norm,
                                        std::exchange(model->elapsed[shard], {}), {}});
    }
    if (model->tracker.step_complete()) {
      model->tracker.next_step();
    }
  }

  void submit(model_id id, const std::vector<update_job>& jobs) {
    if (releases_.contains(id)) {
      return;
    }
    for (const auto& job : jobs) {
      waiting_.push_back({id, job});
    }
    start_waiting();
  }

  /// The executor has one job per worker: a more urgent one that arrives meanwhile is the next.
  void start_waiting() {
    const auto workers = static_cast<std::size_t>(services_.update_executor->workers());
    while (jobs_.size() < workers && !waiting_.empty()) {
      const auto next = take_next();
      start(next.model, models_.at(next.model), next.job);
    }
  }

  /// Of the model whose job waits longest that of the lowest shard, with which its next step begins.
  pending_job take_next() {
    const auto rank = [oldest = waiting_.front().model](const pending_job& p) {
      return std::pair(p.model != oldest, p.job.shard);
    };
    const auto next = std::ranges::min_element(waiting_, {}, rank);
    const auto taken = *next;
    waiting_.erase(next);
    return taken;
  }

  void start(model_id id, const std::shared_ptr<model_updates>& model, const update_job& job) {
    if (model->touches_held(job)) {
      model->parked.push_back(job);
      return;
    }
    const auto estimate =
        job.what == update_job::kind::step ? model->what->plan.shards[job.shard].update_time : duration{};
    const auto t = services_.update_executor->submit(work(model, job), estimate);
    jobs_.emplace(t.value, pending_job{id, job});
    ++model->running;
  }

  static std::function<void()> work(const std::shared_ptr<model_updates>& model, const update_job& job) {
    if (job.what == update_job::kind::norms) {
      return [model, job] { model->math.norms(job.shard, model->homes); };
    }
    return [model, job, step = model->step.value, coefficient = coefficient_of(*model)] {
      model->math.step(job.shard, step, coefficient, model->homes);
    };
  }

  static float coefficient_of(const model_updates& model) {
    return model.norm ? model.math.clip_coefficient(*model.norm) : 1.0F;
  }

  static shard_index index(std::size_t shard) { return shard_index{static_cast<std::uint32_t>(shard)}; }

  void record(const completion& c, const model_updates& model, const update_job& job) const {
    if (services_.spans) {
      const auto what = job.what == update_job::kind::norms ? "norms" : "update";
      services_.spans->record(
          {"step_shard", "host optimizer", c.begin, c.end,
           fmt::format("{} of {} {} step {}", what, model.what->name, job.shard, model.step.value)});
    }
  }

  void on_report_state(const report_state& m) {
    std::string text;
    for (const auto& [id, model] : models_) {
      if (model->running > 0 || !model->parked.empty()) {
        text += fmt::format("{}: {} jobs run, {} wait for {} shards to be saved\n", model->what->name, model->running,
                            model->parked.size(), model->held.size());
      }
    }
    if (!waiting_.empty()) {
      text += fmt::format("{} jobs wait for {} that run\n", waiting_.size(), jobs_.size());
    }
    send(m.to, state_reported{actor_name, text});
  }

  void on_shut_down(const shut_down&) { quit(); }

  run_services services_;
  std::map<model_id, std::shared_ptr<model_updates>> models_;
  std::vector<pending_job> waiting_;                      ///< in the order of arrival
  std::unordered_map<std::uint64_t, pending_job> jobs_;   ///< given to the executor
  std::map<model_id, release_updates> releases_;   ///< of models of which a job still runs
  std::unordered_map<std::uint64_t, digest_job> digests_;
};

}  // namespace

optimizer_actor spawn_optimizer(caf::actor_system& system, const run_services& services) {
  auto actor = system.spawn<optimizer>(services);
  services.update_executor->on_completion([actor](const completion& c) { post(actor, operation_completed{c}); });
  return actor;
}

}  // namespace hydra
