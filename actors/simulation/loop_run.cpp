#include "actors/simulation/loop_run.hpp"

#include "actors/policy/sharded_lrtf.hpp"
#include "runtime/base/fault.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

loop_run::loop_run(const schedule_instance& instance, std::unique_ptr<policy> chosen, const loop_options& options)
    : instance_(instance),
      options_(options),
      tracker_(std::move(chosen)),
      workers_(instance.host_workers),
      on_placed_([this](const placement& p) { stage(p); }) {
  for (std::uint32_t d = 0; d < instance.devices.size(); ++d) {
    devices_.emplace_back(instance, instance.devices[d].speed);
    tracker_.add_device(device_id{d}, instance.devices[d].speed, instance_link);
    tracker_.device_freed(device_id{d}, 1, std::nullopt, clock());
    if (instance.devices[d].fails) {
      push(*instance.devices[d].fails, loop_event_kind::died, d);
    }
  }
  for (std::uint32_t m = 0; m < instance.models.size(); ++m) {
    models_.emplace_back(instance.models[m], model_id{m});
    push(instance.models[m].arrival, loop_event_kind::arrived, m);
  }
  result_.finished.resize(models_.size());
}

simulated_run loop_run::run() {
  while (!finished()) {
    if (events_.empty()) {
      if (tracker_.ready_count() == 0) {
        throw fault_error{fault_code::internal, instance_.name + ": the simulated run hangs after " + to_string(now_)};
      }
      replace_policy("stays silent although units are ready and nothing is under way");
    } else {
      now_ = events_.top().at;
      while (!events_.empty() && events_.top().at == now_) {
        const auto e = events_.top();
        events_.pop();
        apply(e);
      }
      for (std::uint32_t d = 0; d < devices_.size(); ++d) {
        start_if_ready(d);
      }
    }
    decide();
  }
  result_.decisions = tracker_.decisions();
  return std::move(result_);
}

// -- events --------------------------------------------------------------------------------------------------------------

void loop_run::apply(const loop_event& e) {
  switch (e.kind) {
    case loop_event_kind::unit_ended: return on_unit_ended(e.a);
    case loop_event_kind::written_back: return on_written_back(e);
    case loop_event_kind::gradients_written_back: return on_gradients_written_back(e);
    case loop_event_kind::version_ready: return on_version_ready(e.a, e.b);
    case loop_event_kind::copies_ended: return;
    case loop_event_kind::arrived: return on_arrived(e.a);
    case loop_event_kind::died: return on_died(e.a);
  }
}

void loop_run::on_unit_ended(std::uint32_t device) {
  auto& d = devices_[device];
  if (!d.computing || !d.alive) {
    return;  // its device has died
  }
  const auto v = *std::exchange(d.computing, std::nullopt);
  auto& m = models_[v.model];
  d.cache.unpin(v.slot);
  m.predecessor_ended = true;
  result_.compute_end = now_;
  if (options_.record_order) {
    result_.units.push_back({model_id{v.model}, v.step, v.index, device_id{device}, v.begun, now_, v.hit});
  }
  copy_outputs(v, d);
  if (!m.chain.is_forward(v.index)) {
    drop_old_version(v, device);
  }
  tracker_.device_freed(device_id{device}, instance_.prefetch ? 0 : 1, std::nullopt, clock());
  if (options_.completion == completion_rule::ended) {
    tracker_.unit_completed(v.what, clock());
  }
  announce(v.model);
  leave_if_over(v.model);
}

/// As soon as none of its units can be lost any more.
void loop_run::leave_if_over(std::uint32_t model) {
  const bool over = models_[model].step == models_[model].chain.steps();
  if (over && tracker_.flights_of(model_id{model}).empty()) {
    tracker_.remove_model(model_id{model});
  }
}

/// The output first, then the gradients: the copies of a unit end in this order.
void loop_run::copy_outputs(const loop_visit& v, loop_device& d) {
  auto& m = models_[v.model];
  const auto s = m.chain.shard_of(v.index);
  const bool forward = m.chain.is_forward(v.index);
  auto written_back = now_;
  if (!m.chain.ends_step(v.index)) {
    written_back = m.output_home = d.out.copy(now_, now_, m.given->activation);
  }
  if (forward && instance_.copy_back_clean) {
    written_back = d.out.copy(now_, now_, m.given->h2d[s]);
    d.cache.drain(v.slot, written_back);
  }
  if (!forward) {
    written_back = d.out.copy(now_, now_, m.given->d2h_gradient[s]);
    d.cache.stale(v.slot);
    if (options_.completion == completion_rule::ended) {
      d.cache.drain(v.slot, written_back);
      push(written_back, loop_event_kind::gradients_written_back, v.model, s, v.step);
    }
  }
  if (options_.completion == completion_rule::written_back) {
    push(written_back, loop_event_kind::written_back, v.model, v.index, v.step, m.attempt);
  }
}

void loop_run::on_written_back(const loop_event& e) {
  auto& m = models_[e.a];
  if (e.attempt != m.attempt) {
    return;  // lost with its device
  }
  const auto flights = tracker_.flights_of(model_id{e.a});
  for (const auto& f : flights) {
    if (f.phase == flight_phase::write_back && m.chain.index_of(f.what) == e.b) {
      tracker_.unit_completed(f.what, clock());
      m.predecessor_written_back = m.predecessor_written_back || (m.predecessor_ended && flights.size() == 1);
      break;
    }
  }
  if (!m.chain.is_forward(e.b)) {
    on_gradients_written_back({.at = now_, .a = e.a, .b = m.chain.shard_of(e.b), .step = e.step});
  }
  leave_if_over(e.a);
}

/// Outputs of a unit that was run again because one before it was lost are there already: copies of length zero may
/// end out of order.
void loop_run::on_gradients_written_back(const loop_event& e) {
  if (std::exchange(models_[e.a].updates[e.b], e.step + 1) > e.step) {
    return;
  }
  auto& worker = *std::ranges::min_element(workers_);
  worker = std::max(worker, now_) + models_[e.a].given->optimizer[e.b];
  push(worker, loop_event_kind::version_ready, e.a, e.b);
}

void loop_run::on_version_ready(std::uint32_t model, std::uint32_t shard) {
  auto& m = models_[model];
  m.last_ready += ++m.versions[shard] == m.chain.steps() ? 1 : 0;
  if (m.last_ready == m.chain.shards()) {
    ++models_over_;
    result_.finished[model] = result_.makespan = now_;
  }
  announce(model);
}

void loop_run::on_arrived(std::uint32_t model) {
  const auto& given = *models_[model].given;
  model_traits traits{.priority = given.priority, .shape = {.shards = models_[model].chain.shards()}};
  if (given.deadline) {
    traits.deadline = time_point{*given.deadline};
  }
  tracker_.add_model(model_id{model}, traits);
  models_[model].here = true;
  announce(model);
}

void loop_run::on_died(std::uint32_t device) {
  auto& d = devices_[device];
  d.alive = false;
  d.staged.reset();
  d.computing.reset();
  if (std::ranges::none_of(devices_, &loop_device::alive)) {
    throw fault_error{fault_code::device_lost, instance_.name + ": all devices are lost after " + to_string(now_)};
  }
  for (const auto& loss : tracker_.device_lost(device_id{device})) {
    rewind(loss);
  }
}

void loop_run::rewind(const model_loss& loss) {
  auto& m = models_[loss.model.value];
  const auto& first = loss.lost.front().what;
  m.step = first.step.value;
  m.index = m.chain.index_of(first);
  m.attempt = loss.next_attempt;
  m.announced = false;
  m.predecessor_ended = m.predecessor_written_back = true;
  m.staged = 0;
  m.output_home = now_;
  announce(loss.model.value);
}

}  // namespace hydra
