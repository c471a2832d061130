#include "actors/device/device.hpp"

#include "actors/device/device_pipeline.hpp"
#include "actors/protocol/guarded.hpp"
#include "runtime/device/closable_sink.hpp"
#include "runtime/device/device.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace hydra {

namespace {

/// DEVICE: passes messages and completions to the pipeline and sends the pipeline's messages.
class device_host final : public device_actor::base, public pipeline_port {
 public:
  using super = device_actor::base;

  device_host(caf::actor_config& config, run_services services, device_setup setup,
              std::shared_ptr<closable_sink<completion>> completions)
      : super(config),
        services_(std::move(services)),
        setup_(std::move(setup)),
        completions_(std::move(completions)),
        pipeline_(std::make_unique<device_pipeline>(*setup_.machine, *this, services_.spans, setup_.pipeline)) {}

  static constexpr const char* actor_name = "device";
  const char* name() const override { return actor_name; }

  behavior_type make_behavior() override {
    return {guarded(this, &device_host::on_begin_run),     guarded(this, &device_host::on_prefetch_shard),
            guarded(this, &device_host::on_execute_shard), guarded(this, &device_host::on_withdraw_unit),
            guarded(this, &device_host::on_shard_leased),  guarded(this, &device_host::on_lease_refused),
            guarded(this, &device_host::on_operation_completed), guarded(this, &device_host::on_model_released),
            guarded(this, &device_host::on_report_state),    guarded(this, &device_host::on_shut_down)};
  }

  /// Does not wait for running operations, because other actors need the thread: the session waits for them, up to a
  /// limit.
  void on_exit() override {
    if (!retired_) {
      retire(true);
    }
    setup_.machine->stop({});
    completions_->close();
    pipeline_.reset();
    setup_.scheduler = nullptr;
    setup_.memory = nullptr;
    setup_.reporter = nullptr;
  }

  /// The supervisor is notified of its end and declares the device lost.
  void on_fault(const fault& why) {
    services_.log->error("device {} fails: {}", setup_.machine->info().name, why.text);
    failed_ = why.text;
    quit(caf::exit_reason::unhandled_exception);
  }

 private:
  // -- messages -------------------------------------------------------------------------------------------------------

  void on_begin_run(const begin_run&) { pipeline_->start(); }

  void on_prefetch_shard(const prefetch_shard& m) { pipeline_->prefetch(m.what, {m.available, clock().now()}); }
  void on_execute_shard(const execute_shard& m) { pipeline_->execute(m.what, m.model, m.targets); }
  void on_withdraw_unit(const withdraw_unit& m) { pipeline_->withdraw(m.what, m.unless_started); }
  void on_shard_leased(const shard_leased& m) { pipeline_->leased(m.lease, m.reads, m.outputs); }
  void on_lease_refused(const lease_refused& m) { pipeline_->refused(m.lease, m.why); }
  void on_operation_completed(const operation_completed& m) { pipeline_->completed(m.what); }
  void on_model_released(const model_released& m) { pipeline_->forget(m.model); }

  void on_report_state(const report_state& m) {
    send(m.to,
         state_reported{"device " + setup_.machine->info().name, pipeline_->quiet() ? "" : pipeline_->describe()});
  }

  void on_shut_down(const shut_down&) {
    retire(false);
    quit();
  }

  /// Of one that is lost what it still holds is not a leftover: its units move to other devices.
  void retire(bool early) {
    const auto& c = pipeline_->counters();
    const bool quiet = early || pipeline_->quiet();
    send(setup_.reporter,
         device_retired{setup_.id, c.busy, c.exposed_transfer, c.h2d_bytes, c.d2h_bytes, c.hits, c.misses, c.saved,
                        c.recomputed, quiet ? "" : pipeline_->describe(), early, failed_});
    retired_ = true;
  }

  // -- messages of the pipeline --------------------------------------------------------------------------------------

  void lease(ticket lease, const unit& u, std::vector<block_id> reads, std::vector<block_id> outputs) override {
    send(setup_.memory, lease_shard{lease, setup_.id, u, std::move(reads), std::move(outputs)});
  }

  void return_lease(ticket lease) override { send(setup_.memory, lease_returned{lease, setup_.id}); }

  void demoted(const unit& u, const visit_times& times) override {
    if (services_.log->should_log(spdlog::level::debug)) {
      services_.log->debug("device {} demotes {}", setup_.machine->info().name, to_string(u));
    }
    send(setup_.memory, shard_demoted{u, setup_.id, times});
  }

  void failed(const unit& u, const fault& why) override {
    services_.log->debug("device {} gives up {}: {}", setup_.machine->info().name, to_string(u), why.text);
    send(setup_.memory, shard_failed{u, setup_.id, why});
  }

  void freed(std::uint32_t credits, const std::optional<unit>& running, std::vector<block_id> cached,
             std::vector<block_id> dropped) override {
    send(setup_.scheduler, device_freed{setup_.id, credits, running, std::move(cached), std::move(dropped)});
  }

  run_services services_;
  device_setup setup_;
  std::shared_ptr<closable_sink<completion>> completions_;  ///< the device may outlive this actor and its system
  std::unique_ptr<device_pipeline> pipeline_;
  bool retired_ = false;
  std::string failed_;   ///< the fault that ends it
};

}  // namespace

device_actor spawn_device(caf::actor_system& system, const run_services& services, const device_setup& setup) {
  const auto completions = std::make_shared<closable_sink<completion>>();
  auto actor = system.spawn<device_host>(services, setup, completions);
  completions->open([actor](const completion& c) { post(actor, operation_completed{c}); });
  setup.machine->on_completion(completions->sink());
  return actor;
}

}  // namespace hydra
