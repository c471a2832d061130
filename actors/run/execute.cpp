#include "actors/run/execute.hpp"

#include "actors/plugin/policy_actor.hpp"
#include "actors/protocol/system_config.hpp"
#include "actors/report/progress.hpp"
#include "actors/run/launch.hpp"
#include "actors/schedule/policy_host.hpp"
#include "runtime/device/executor.hpp"
#include "runtime/device/host_energy.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace hydra {

namespace {

std::unique_ptr<progress_printer> make_printer(const std::vector<model_entry>& models, std::size_t devices) {
  auto printer = make_progress_printer(devices);
  for (const auto& m : models) {
    expect(*printer, m);
  }
  return printer;
}

/// Warns of a policy actor that has not ended.
void retire(policy_host& host, const std::string& name, duration limit, spdlog::logger& log) {
  if (!host.retire(limit)) {
    log.warn("policy {}: its actor still runs {} after the run; it keeps its threads until the program ends", name,
             to_string(limit));
  }
}

/// Starts the run and waits until its record is complete. SUPERVISOR and REPORTER watch each other, and the REPORTER
/// the run: the wait is bounded by the stall limit, unless a user's callback or a read of a file never returns.
std::future<run_record> run_to_end(caf::actor_system& system, run_setup setup, const run_environment& in,
                                   std::promise<run_record>& done) {
  auto record = done.get_future();
  const auto actors = launch(system, std::move(setup), [&](run_record r) { done.set_value(std::move(r)); });
  const auto pass_on = [supervisor = actors.supervisor](run_request r) {
    std::visit([&](auto& message) { post(supervisor, std::move(message)); }, r);
  };
  in.requests.connect(pass_on, [&] { start_run(actors); });  // the first callback may ask for something already
  in.interrupts.connect([supervisor = actors.supervisor] { post(supervisor, interrupt_run{}); });
  record.wait();
  in.requests.close();
  in.interrupts.disconnect();
  return record;
}

}  // namespace

executed_run execute(run_setup setup, const run_environment& in) {
  const auto config = make_system_config();
  const auto log = setup.services.log;
  const auto source = setup.advice.source;
  auto updates = make_executor(in.optimizer_threads);
  host_energy meter;
  auto printer = in.progress ? make_printer(setup.models, setup.devices.size()) : nullptr;
  std::optional<policy_host> host;
  if (source) {
    host.emplace(source);
    setup.advice.source = host->source();
  }
  setup.services.update_executor = updates.get();
  setup.progress = printer.get();
  setup.host = &meter;
  std::promise<run_record> done;
  std::future<run_record> record;
  executed_run run;
  {
    caf::actor_system system(*config);
    const auto retire_all = [&] {
      run.devices = in.devices.retire([&in](bool hanging) { in.arena.end_locks(hanging); });
      updates.reset();  // the last actor handles must be destroyed before their system
    };
    try {
      record = run_to_end(system, std::move(setup), in, done);
    } catch (...) {
      retire_all();
      throw;
    }
    retire_all();
  }
  if (host) {
    retire(*host, source->name, in.stop_limit, *log);
  }
  if (printer) {
    printer->finish(steady_clock::now());
  }
  run.record = record.get();
  return run;
}

}  // namespace hydra
