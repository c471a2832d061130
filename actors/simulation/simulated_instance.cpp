#include "actors/simulation/simulated_instance.hpp"

#include "actors/simulation/instance_chain.hpp"
#include "actors/simulation/simulated_device.hpp"
#include "actors/simulation/simulation.hpp"
#include "runtime/base/fault.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

constexpr byte_count slot_room{512};

simulated_model model_of(const instance_model& given, model_id base_owner) {
  simulated_model m;
  m.name = given.name;
  m.steps = given.steps;
  m.replicas = given.replicas;
  m.waves = given.waves;
  m.first_trained = given.first_trained;
  m.micro_batches = shape_of(given).micro_batches;
  m.terms = {given.priority, given.deadline, given.arrival};
  m.slot = slot_room;
  m.remaining_scale = given.remaining_scale;
  for (std::size_t s = 0; s < given.forward.size(); ++s) {
    const bool last = s + 1 == given.forward.size();
    simulated_shard shard;
    shard.forward = given.forward[s] * m.micro_batches;  // of the whole step
    shard.backward = (given.backward[s] + (last ? given.forward[s] : duration{})) * m.micro_batches;
    shard.update = given.optimizer[s];
    shard.parameters = bytes_for(given.h2d[s]);
    shard.base = bytes_for(base_copy(given, s));
    if (shard.base > byte_count{}) {
      shard.shared_base = base_place{base_owner, shard_index{static_cast<std::uint32_t>(s)}};
    }
    shard.gradients = bytes_for(given.d2h_gradient[s]);
    shard.activation = bytes_for(given.activation);
    m.shards.push_back(std::move(shard));
  }
  return m;
}

device_info device_of(const schedule_instance& instance, std::size_t i) {
  device_info d;
  d.name = "simulated:" + std::to_string(i);
  d.kind = "simulated";
  d.speed = instance.devices[i].speed;
  d.memory = slot_room * instance.slots;
  d.link = instance_link;
  return d;
}

simulation_setup setup_of(const schedule_instance& instance, std::unique_ptr<policy> chosen) {
  simulation_setup setup;
  for (std::size_t i = 0; i < instance.devices.size(); ++i) {
    setup.devices.push_back(device_of(instance, i));
  }
  std::ranges::transform(instance.models, base_owners(instance), std::back_inserter(setup.models), model_of);
  setup.chosen = std::move(chosen);
  setup.pipeline = {
      .slots = instance.depth, .double_buffer = instance.prefetch, .copy_back_clean = instance.copy_back_clean};
  setup.optimizer_workers = static_cast<int>(instance.host_workers);
  setup.noise = {instance.noise, instance.seed};
  setup.records_spans = false;
  return setup;
}

void let_devices_die(const schedule_instance& instance, simulation& s) {
  for (std::size_t i = 0; i < instance.devices.size(); ++i) {
    if (instance.devices[i].fails) {
      s.kill_device(i, *instance.devices[i].fails);
    }
  }
}

simulated_run result_of(const schedule_instance& instance, simulation& s, time_point begin) {
  const auto& record = s.record();
  if (!record) {
    throw fault_error{fault_code::internal, instance.name + ": the simulated run hangs"};
  }
  simulated_run run;
  run.decisions = record->decisions;
  run.replacements = record->replacements;
  for (std::size_t i = 0; i < record->devices.size(); ++i) {
    run.loads += record->devices[i].counters.misses;
    run.hits += record->devices[i].counters.hits;
    if (record->devices[i].retired) {  // the computation of a dead device is lost
      run.compute_end = std::max(run.compute_end, s.device_at(i).computed() - begin);
    }
  }
  for (const auto& m : record->models) {
    if (record->aborted || m.why) {
      throw fault_error{record->aborted ? record->aborted : m.why};
    }
    if (!m.last_update) {
      throw fault_error{fault_code::internal, instance.name + ": a model of the simulated run has not ended"};
    }
    run.finished.push_back(*m.last_update - begin);
    run.makespan = std::max(run.makespan, run.finished.back());
  }
  run.work = record->work;
  run.work.makespan = run.makespan;
  return run;
}

}  // namespace

simulated_run run_with_actors(const schedule_instance& instance, std::unique_ptr<policy> chosen) {
  validate(instance);
  simulation s{setup_of(instance, std::move(chosen))};
  const auto begin = s.now();
  let_devices_die(instance, s);
  s.run();
  return result_of(instance, s, begin);
}

}  // namespace hydra
