#include "actors/guarded.hpp"
#include "actors/spawn.hpp"

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hydra {

namespace {

/// What update jobs of one model share. A job reads and writes only buffers that update_books keeps apart.
struct model_updates {
  model_updates(sharded_model_ptr m, memory_actor home)
      : what(std::move(m)),
        books(what->size(), what->ties, what->update.clip_norm > 0),
        math(what),
        homes(what->size()),
        elapsed(what->size()),
        memory(std::move(home)) {}

  sharded_model_ptr what;
  update_books books;
  model_update math;
  std::vector<shard_home> homes;
  std::vector<duration> elapsed;
  memory_actor memory;
  step_index step;
  std::optional<float> norm;
};

/// OPTIMIZER: feeds update jobs to the executor in the order in which they may run.
class optimizer final : public optimizer_actor::base {
 public:
  using super = optimizer_actor::base;

  optimizer(caf::actor_config& config, run_services services) : super(config), services_(std::move(services)) {}

  static constexpr const char* actor_name = "optimizer";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    return {guarded(this, &optimizer::on_step_shard), guarded(this, &optimizer::on_operation_completed),
            guarded(this, &optimizer::on_shut_down)};
  }

  void on_exit() override {
    models_.clear();
    jobs_.clear();
  }

  void on_fault(const fault& why) {
    services_.log->error("optimizer fails: {}", why.text);
    quit(caf::exit_reason::unhandled_exception);
  }

 private:
  struct running_job {
    model_id model;
    update_job job;
  };

  void on_step_shard(const step_shard& m) {
    auto& model = models_[m.model];
    if (!model) {
      model = std::make_shared<model_updates>(m.what, m.memory);
    }
    model->step = m.step;
    model->homes[m.shard.value] = m.home;
    submit(m.model, model, model->books.landed(m.shard.value));
  }

  void on_operation_completed(const operation_completed& m) {
    const auto job = jobs_.extract(m.what.operation.value);
    if (job.empty()) {
      return;
    }
    record(m.what);
    const auto id = job.mapped().model;
    auto& model = models_.at(id);
    const auto shard = job.mapped().job.shard;
    model->elapsed[shard] += m.what.end - m.what.begin;
    if (m.what.error) {
      send(model->memory, shard_stepped{id, index(shard), model->step.next(), {}, {}, m.what.error});
      return;
    }
    finish(id, model, job.mapped().job);
  }

  /// A complete shard's gradients go at once: home counts them once. (A replica is told after its owner was stepped, so
  /// nobody reads them any more.)
  void finish(model_id id, const std::shared_ptr<model_updates>& model, const update_job& job) {
    const auto next = model->books.done(job);
    if (job.what == update_job::kind::norms && !next.empty()) {
      model->norm = model->math.total_norm();
    }
    submit(id, model, next);
    for (const auto shard : model->books.take_complete()) {
      model->homes[shard].gradients.reset();
      send(model->memory, shard_stepped{id, index(shard), model->step.next(), model->norm,
                                        std::exchange(model->elapsed[shard], {}), {}});
    }
    if (model->books.step_complete()) {
      model->books.next_step();
    }
  }

  void submit(model_id id, const std::shared_ptr<model_updates>& model, const std::vector<update_job>& jobs) {
    for (const auto& job : jobs) {
      const auto estimate = job.what == update_job::kind::step ? model->what->plan.shards[job.shard].update_time : duration{};
      const auto t = services_.update_executor->submit(work(model, job), estimate);
      jobs_.emplace(t.value, running_job{id, job});
    }
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

  void record(const completion& c) const {
    if (services_.spans) {
      services_.spans->record({"step_shard", "host optimizer", c.begin, c.end, {}});
    }
  }

  void on_shut_down(const shut_down&) { quit(); }

  run_services services_;
  std::map<model_id, std::shared_ptr<model_updates>> models_;
  std::unordered_map<std::uint64_t, running_job> jobs_;
};

}  // namespace

optimizer_actor spawn_optimizer(caf::actor_system& system, const run_services& services) {
  auto actor = system.spawn<optimizer>(services);
  services.update_executor->on_completion([actor](const completion& c) { post(actor, operation_completed{c}); });
  return actor;
}

}  // namespace hydra
