#include "actors/cluster/coordinator.hpp"

#include "actors/cluster/coordinator_actor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra {

void coordinator::on_stop(const stop_by_name& m) {
  const auto& names = setup_.what.models;
  const auto found = std::ranges::find(names, m.model);
  if (found == names.end()) {
    return m.answer({fault_code::bad_input, fmt::format("there is no model \"{}\"", m.model)});
  }
  const auto model = static_cast<std::uint32_t>(found - names.begin());
  const auto& now = plan_.of(model);
  if (now.phase == assignment_phase::ended) {
    return m.answer({fault_code::refused, fmt::format("model '{}' has ended", m.model)});
  }
  stopping_.insert(model);
  if (now.phase == assignment_phase::training) {
    send(node_of(*now.node), stop_assigned{model, now.epoch});
  }
  m.answer({});
}

void coordinator::on_read(const read_cluster& m) {
  run_status s;
  for (std::size_t i = 0; i < plan_.models().size(); ++i) {
    s.models.push_back(status_of(plan_.of(i), record_.models[i]));
  }
  for (const auto& n : record_.nodes) {
    for (std::size_t i = 0; i < n.devices.size() && i < n.last.devices.size() && !n.left; ++i) {
      const auto& d = n.last.devices[i];
      s.devices.push_back({n.name + "/" + n.devices[i].name, d.busy, {d.used, d.peak, d.budget}});
    }
    s.host.used += n.left ? byte_count{} : n.last.host_used;
    s.host.peak += n.left ? byte_count{} : n.last.host_peak;
    s.host.budget += n.left ? byte_count{} : n.last.host_budget;
  }
  s.elapsed = clock().now() - began_;
  m.answer(std::move(s));
}

/// "a", or "a, b" for those that train it together.
std::string coordinator::places_of(const cluster_model& m) const {
  std::string names = plan_.nodes()[*m.node].name;
  for (const auto helper : m.helpers) {
    names += ", " + plan_.nodes()[helper].name;
  }
  return names;
}

model_now coordinator::status_of(const cluster_model& m, const cluster_model_record& record) const {
  model_now now{.name = m.name, .steps = m.steps};
  if (record.of > 0) {
    now.of = record.of;
  }
  now.loss = record.loss;
  now.validation = record.validation;
  now.digest = record.digest;
  switch (m.phase) {
    case assignment_phase::waiting:
    case assignment_phase::assigned:
      now.note = m.node ? "on its way to " + places_of(m) : "for a node";
      break;
    case assignment_phase::training:
      now.phase = model_phase::training;
      now.note = "on " + places_of(m);
      break;
    case assignment_phase::taken_back:
      now.phase = model_phase::pausing;
      now.note = "leaves " + places_of(m);
      break;
    case assignment_phase::ended:
      now.phase = record.end;
      now.note = record.why.text;
      break;
  }
  return now;
}

void coordinator::say(const std::string& text) {
  if (setup_.events.say) {
    setup_.events.say(text);
  }
}

local_coordinator coordinator::self_handle() { return caf::actor_cast<local_coordinator>(this); }

coordinator_handle coordinator_handle::spawn(caf::actor_system& system, coordinator_setup setup) {
  const auto made = system.spawn<coordinator, caf::detached>(std::move(setup));
  return {made, caf::actor_cast<caf::actor>(made)};
}

void coordinator_handle::interrupt() const { caf::anon_send(local_, interrupt_cluster{}); }
void coordinator_handle::stop_model(const std::string& model, command_sink answer) const {
  caf::anon_send(local_, stop_by_name{model, std::move(answer)});
}
void coordinator_handle::read_status(status_sink answer) const {
  caf::anon_send(local_, read_cluster{std::move(answer)});
}

}  // namespace hydra
