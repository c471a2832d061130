#include "actors/memory/memory_manager.hpp"

#include "actors/memory/block_store.hpp"
#include "actors/memory/shared_steps.hpp"
#include "actors/protocol/guarded.hpp"
#include "partition/execute/kept_parameters.hpp"
#include "runtime/device/closable_sink.hpp"
#include "runtime/memory/host_arena.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace hydra {

namespace {

/// MEMORY MANAGER: block_store has the state; this actor sends what it decides.
class memory_manager final : public memory_actor::base {
 public:
  using super = memory_actor::base;

  memory_manager(caf::actor_config& config, run_services services, memory_setup setup)
      : super(config),
        services_(std::move(services)),
        store_(*services_.arena),
        shared_(services_.partners, *services_.arena, exchanged_.sink()),
        scheduler_(std::move(setup.scheduler)),
        optimizer_(std::move(setup.optimizer)),
        reporter_(std::move(setup.reporter)),
        supervisor_(std::move(setup.supervisor)) {}

  static constexpr const char* actor_name = "memory manager";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    exchanged_.open([self = caf::actor_cast<memory_actor>(this)](const values_exchanged& m) { post(self, m); });
    return {guarded(this, &memory_manager::on_device_added),     guarded(this, &memory_manager::on_register_model),
            guarded(this, &memory_manager::on_lease_shard),      guarded(this, &memory_manager::on_lease_returned),
            guarded(this, &memory_manager::on_shard_demoted),    guarded(this, &memory_manager::on_shard_failed),
            guarded(this, &memory_manager::on_values_exchanged), guarded(this, &memory_manager::on_shard_stepped),
            guarded(this, &memory_manager::on_batch_ready),      guarded(this, &memory_manager::on_device_lost),
            guarded(this, &memory_manager::on_capture_model),    guarded(this, &memory_manager::on_updates_held),
            guarded(this, &memory_manager::on_model_saved),      guarded(this, &memory_manager::on_release_model),
            guarded(this, &memory_manager::on_updates_released), guarded(this, &memory_manager::on_report_state),
            guarded(this, &memory_manager::on_shut_down)};
  }

  void on_exit() override {
    exchanged_.close();
    devices_.clear();
    tasks_.clear();
    waiting_.clear();
    unread_.clear();
    scheduler_ = nullptr;
    optimizer_ = nullptr;
    reporter_ = nullptr;
    supervisor_ = nullptr;
  }

  void on_fault(const fault& why) {
    services_.log->error("memory manager fails: {}", why.text);
    quit(caf::exit_reason::unhandled_exception);
  }

 private:
  void on_device_added(const device_added& m) { devices_[m.device] = m.actor; }

  void on_register_model(const register_model& m) {
    store_.add_model(m.model, m.what, m.memory, m.begins);
    tasks_[m.model] = m.task;
    if (!m.memory.at_step_begin()) {
      send(optimizer_, resume_updates{m.model, step_index{m.memory.step()}, m.what, m.memory.homes, m.memory.updates,
                                      caf::actor_cast<memory_actor>(this)});
    }
  }

  // -- leases ---------------------------------------------------------------------------------------------------------

  void on_lease_shard(const lease_shard& m) {
    const lease_request request{m.lease, m.device, m.what, m.reads, m.outputs};
    // In order, so that small requests do not starve a large one. But a request that only reads needs no memory, and a
    // unit that computes may have to read before it can free any.
    const bool waits = !waiting_.empty() && !m.outputs.empty();
    if (waits || !grant(request)) {
      waiting_.push_back(request);
    }
  }

  void on_lease_returned(const lease_returned& m) {
    store_.lease_returned(m.device, m.lease);
    grant_waiting();
  }

  /// False if there is not enough memory for the outputs now; a waiting lease holds nothing.
  bool grant(const lease_request& request) {
    const auto& device = devices_.at(request.device);
    try {
      auto granted = store_.lease(request);
      send(device, shard_leased{request.lease, std::move(granted.reads), std::move(granted.outputs)});
    } catch (const fault_error& e) {
      if (e.what_happened().code == fault_code::out_of_memory) {
        return false;
      }
      send(device, lease_refused{request.lease, e.what_happened()});
    }
    return true;
  }

  void grant_waiting() {
    ++freed_;
    for (auto& [reader, wanted] : std::exchange(unread_, {})) {
      asked_[wanted.model] = freed_;
      send(reader, wanted);
    }
    while (!waiting_.empty() && grant(waiting_.front())) {
      waiting_.pop_front();
    }
  }

  // -- completion -----------------------------------------------------------------------------------------------------

  void on_shard_demoted(const shard_demoted& m) {
    const auto result = store_.commit(m.what, m.device);
    if (result) {
      const shard_completed message{m.what, m.device, result->losses, result->scores, m.times};
      send(scheduler_, message);
      send(tasks_.at(m.what.model), message);
      send(reporter_, message);
      const auto& model = store_.model(m.what.model);
      if (!model->share.whole() && !result->losses.empty()) {
        shared_.add_losses(m.what, *model, result->losses);
      }
      for (const auto shard : result->complete_sums) {
        begin_step(m.what, shard);
      }
      if (result->stepped) {
        tell_updated({m.what.model, m.what.shard, *result->stepped, {}, {}, {}});
      }
    }
    grant_waiting();
  }

  void begin_step(const unit& u, shard_index shard) {
    const auto& model = store_.model(u.model);
    auto home = store_.begin_step(u.model, shard);
    if (model->share.whole() || shard.value < model->plan.first_trained) {
      step(u.model, shard, u.step, std::move(home));
    } else {
      exchange_sums(u, shard, std::move(home));
    }
  }

  /// Without memory for the sums of others the model fails, and nothing else.
  void exchange_sums(const unit& u, shard_index shard, shard_home home) {
    try {
      shared_.add_sums(u.model, shard, u.step, *store_.model(u.model), std::move(home));
    } catch (const fault_error& e) {
      tell_updated({u.model, shard, {}, {}, {}, e.what_happened()});
    }
  }

  void step(model_id model, shard_index shard, step_index index, shard_home home) {
    send(optimizer_,
         step_shard{model, shard, index, store_.model(model), std::move(home), caf::actor_cast<memory_actor>(this)});
  }

  void on_values_exchanged(const values_exchanged& m) {
    auto values = shared_.take(m);
    if (values && values->shard) {
      step(values->model, *values->shard, values->step, std::move(values->home));
    } else if (values) {
      send(tasks_.at(values->model), losses_gathered{values->model, values->step, std::move(values->losses)});
    }
  }

  void on_shard_failed(const shard_failed& m) {
    if (store_.failed(m.what, m.device)) {
      send(scheduler_, m);
    }
    grant_waiting();
  }

  void on_shard_stepped(const shard_stepped& m) {
    const auto version = m.why ? m.version : store_.stepped(m.model, m.shard);
    tell_updated({m.model, m.shard, version, m.grad_norm, m.elapsed, m.why});
    grant_waiting();
  }

  void tell_updated(const shard_updated& message) {
    send(tasks_.at(message.model), message);
    send(reporter_, message);
  }

  void on_batch_ready(const batch_ready& m) {
    if (!store_.has(m.model)) {
      return;  // it was read for a model that has been released meanwhile
    }
    if (m.why.code == fault_code::out_of_memory) {
      on_unread(m);
      return;
    }
    asked_.erase(m.model);
    for (const auto& [id, bytes] : m.blocks) {
      store_.adopt(id, bytes);
    }
    send(tasks_.at(m.model), batch_ready{m.model, m.range, m.targets, {}, m.why, {}});
  }

  /// Units that are being written back hold the memory and will free it. If memory was freed since the reader was
  /// asked, ask again at once.
  void on_unread(const batch_ready& m) {
    const auto asked = asked_.find(m.model);
    const bool news = asked == asked_.end() || asked->second != freed_;
    asked_[m.model] = freed_;
    if (news) {
      send(m.reader, batch_wanted{m.model, m.range});
    } else {
      unread_.emplace_back(m.reader, batch_wanted{m.model, m.range});
    }
  }

  void on_device_lost(const device_lost& m) {
    store_.fence(m.device);
    send(scheduler_, m);
    grant_waiting();
  }

  // -- checkpoints ----------------------------------------------------------------------------------------------------

  void on_capture_model(const capture_model& m) {
    if (!store_.has(m.model)) {
      return;  // it has failed and was released
    }
    captures_[m.model] = m.halted;
    send(optimizer_, hold_updates{m.model, store_.model(m.model), caf::actor_cast<memory_actor>(this)});
  }

  void on_updates_held(const updates_held& m) {
    if (!store_.has(m.model)) {
      return;  // released meanwhile
    }
    auto memory = std::make_shared<model_memory>(store_.capture(m.model, m.updates, captures_[m.model]));
    captured_[m.model] = memory;
    send(tasks_.at(m.model), model_captured{m.model, std::move(memory)});
  }

  /// The checkpoint has kept blocks that were consumed in the meantime.
  void on_model_saved(const model_saved& m) {
    captured_.erase(m.model);
    if (const auto found = removed_.extract(m.model)) {
      tell_released(m.model, found.mapped());
    }
    grant_waiting();
  }

  // -- models that have ended -----------------------------------------------------------------------------------------

  void on_release_model(const release_model& m) {
    if (store_.has(m.model)) {
      if (m.paused) {
        paused_.insert(m.model);
      }
      send(optimizer_, release_updates{m.model, store_.model(m.model), parameters_of(store_.homes(m.model)), m.finished,
                                       caf::actor_cast<memory_actor>(this)});
    }
  }

  void on_updates_released(const updates_released& m) {
    remove(m.model);
    tasks_.erase(m.model);
    captures_.erase(m.model);
    asked_.erase(m.model);
    std::erase_if(unread_, [&](const auto& entry) { return entry.second.model == m.model; });
    const auto captured = captured_.find(m.model);
    if (captured != captured_.end() && !captured->second.expired()) {
      removed_[m.model] =
          m.digest;  // a model that has failed is not saved again, but a checkpoint of it may be under way
    } else {
      captured_.erase(m.model);
      tell_released(m.model, m.digest);
    }
    grant_waiting();
  }

  /// On return the memory is free, except for buffers with other owners.
  void remove(model_id model) {
    shared_.forget(model);
    const auto homes = store_.remove_model(model);
    const bool paused = paused_.erase(model) > 0;
    if (services_.kept && !paused) {
      services_.kept->keep(model, parameters_of(homes));
    }
  }

  void tell_released(model_id model, const std::string& digest) {
    send(reporter_, model_released{model, digest});
    send(supervisor_, model_released{model});
  }

  // -- the end --------------------------------------------------------------------------------------------------------

  void on_report_state(const report_state& m) {
    auto text = store_.describe();
    for (const auto& request : waiting_) {
      text += fmt::format("device {} waits for memory for {} blocks of {}\n", request.device.value,
                          request.outputs.size(), to_string(request.what));
    }
    for (const auto& [reader, wanted] : unread_) {
      text += fmt::format("model {} waits for memory for a batch of step {}\n", wanted.model.value,
                          wanted.range.step.value);
    }
    send(m.to, state_reported{actor_name, text});
  }

  void on_shut_down(const shut_down&) {
    send(reporter_, memory_retired{store_.describe(), store_.all_homes()});
    quit();
  }

  run_services services_;
  block_store store_;
  closable_sink<values_exchanged> exchanged_;  ///< other nodes may answer later than this actor lives
  shared_steps shared_;
  scheduler_actor scheduler_;
  optimizer_actor optimizer_;
  reporter_actor reporter_;
  supervisor_actor supervisor_;
  std::map<device_id, device_actor> devices_;
  std::map<model_id, task_actor> tasks_;
  std::map<model_id, bool> captures_;      ///< under way; true: of a halted run
  std::map<model_id, std::weak_ptr<model_memory>> captured_;   ///< being saved
  std::set<model_id> paused_;                                  ///< being released: their parameters are not a result
  std::map<model_id, std::string> removed_;   ///< report as released, with this digest, after it has been saved
  std::deque<lease_request> waiting_;
  std::vector<std::pair<data_actor, batch_wanted>> unread_;   ///< batches that did not fit
  std::uint64_t freed_ = 0;                ///< how often memory was freed
  std::map<model_id, std::uint64_t> asked_;   ///< freed_ when a model's batch was requested again
};

}  // namespace

memory_actor spawn_memory_manager(caf::actor_system& system, const run_services& services, const memory_setup& setup) {
  return system.spawn<memory_manager>(services, setup);
}

}  // namespace hydra
