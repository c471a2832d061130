#include "actors/cluster/coordinator.hpp"

#include "actors/cluster/cluster_expenses.hpp"
#include "actors/cluster/coordinator_actor.hpp"
#include "actors/protocol/own_thread.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace hydra {

/// None: that is answered.
std::optional<std::uint32_t> coordinator::find_model(const std::string& name, const command_sink& answer) const {
  const auto& names = setup_.what.models;
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    answer({fault_code::bad_input,
            fmt::format("there is no model \"{}\"{}", shown(name), known_instead(name, names))});
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(found - names.begin());
}

void coordinator::on_steer(const steer_by_name& m) {
  const auto known = find_model(m.model, m.answer);
  if (!known) {
    return;
  }
  const auto model = *known;
  if (const auto why = objection(model, m.what)) {
    return m.answer(why);
  }
  say(fmt::format("{} is to be {}", m.model,
                  m.what == model_command::pause  ? "paused"
                  : m.what == model_command::stop ? "stopped"
                                                  : "resumed"));
  if (m.what == model_command::pause) {
    plan_.pause(model, true);
    transit_.erase(model);  // it does not move
    pausing_.emplace(model, m.answer);
  } else {
    m.what == model_command::stop ? stop(model) : plan_.pause(model, false);
    m.answer({});
  }
  settle();
}

/// Empty: the command can be obeyed.
fault coordinator::objection(std::uint32_t model, model_command what) const {
  const auto& now = plan_.of(model);
  const auto refused = [&](const char* why) {
    return fault{fault_code::refused, fmt::format("model '{}' {}", now.name, why)};
  };
  if (ending_ || interrupted_) {
    return {fault_code::refused, "the run is being halted"};
  }
  if (now.phase == assignment_phase::ended) {
    return refused("has ended");
  }
  if (what != model_command::stop && stopping_.contains(model)) {
    return refused("is being stopped");
  }
  if (what == model_command::resume && !now.paused) {
    return refused("cannot be resumed: it is not paused");
  }
  if (what == model_command::pause && now.paused) {
    return refused("cannot be paused: it is paused");
  }
  return {};
}

/// With the step that has begun; one that no node has, at once, and one that is about to be paused, then.
void coordinator::stop(std::uint32_t model) {
  stopping_.insert(model);
  if (const auto& now = plan_.of(model); now.phase == assignment_phase::training) {
    send(node_of(*now.node), stop_assigned{model, now.epoch});
  }
}

void coordinator::end_stopped() {
  for (const auto model : stopping_) {
    const auto& now = plan_.of(model);
    if (now.phase == assignment_phase::waiting && !now.held && !is_arriving(model)) {  // what comes has more steps
      plan_.stopped(model);
      record_.models[model].steps = now.steps;
      note_end(model, model_phase::stopped, {}, "");
    }
  }
}

void coordinator::refuse_pause(std::uint32_t model, const fault& why) {
  plan_.pause(model, false);
  for (auto waiting = pausing_.extract(model); waiting; waiting = pausing_.extract(model)) {
    waiting.mapped()({why.code, fmt::format("model '{}' continues: it could not be saved to be paused: {}",
                                            plan_.of(model).name, why.text)});
  }
}

bool coordinator::waits_for_command() const {
  const auto& all = plan_.models();
  const auto is_paused = [](const cluster_model& m) { return m.phase == assignment_phase::waiting && m.paused; };
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].phase != assignment_phase::ended && !is_paused(all[i]) && !waits_for_decision(i)) {
      return false;
    }
  }
  return std::ranges::any_of(all, is_paused);
}

void coordinator::note_wait() {
  const bool waits = !ending_ && !interrupted_ && waits_for_command();
  if (std::exchange(waits_, waits) || !waits) {
    return;
  }
  std::vector<std::string> paused;
  for (const auto& m : plan_.models()) {
    if (m.phase == assignment_phase::waiting) {
      paused.push_back(m.name);
    }
  }
  say(fmt::format("nothing is left to train but what is paused ({}): the run waits until that is resumed or stopped "
                  "(hydra control RUN resume MODEL), or until it is interrupted",
                  fmt::join(paused, ", ")));
}

void coordinator::answer_pauses() {
  std::erase_if(pausing_, [this](const auto& waiting) {
    const auto& [model, answer] = waiting;
    const auto& now = plan_.of(model);
    if (now.phase == assignment_phase::waiting && now.paused) {
      answer({});
    } else if (now.phase == assignment_phase::ended) {
      answer({fault_code::refused, fmt::format("model '{}' has ended before that was done", now.name)});
    } else if (!now.paused) {
      answer({fault_code::refused, fmt::format("model '{}' was resumed before that was done", now.name)});
    } else {
      return false;
    }
    return true;
  });
}

void coordinator::on_read(const read_cluster& m) {
  run_status s;
  for (std::size_t i = 0; i < plan_.models().size(); ++i) {
    s.models.push_back(status_of(plan_.of(i), record_.models[i]));
    if (waits_for_decision(i) && plan_.of(i).phase == assignment_phase::training) {
      s.models.back().phase = model_phase::waiting;
      s.models.back().note = "for the decision of the search";
    }
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
  const auto spent = record_.before + expenses_of(record_);
  s.spent = spent.all;
  s.currency = currency_of(record_);
  for (auto& model : s.models) {
    model.spent = spent.of(model.name);
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
      now.phase = m.paused ? model_phase::paused : model_phase::waiting;
      now.note = m.paused                    ? (waits_for_command() ? "nothing else is left to train" : "")
                 : m.too_large_for.empty() ? "for a node"
                                           : "for another node: " + m.why.text;
      break;
    case assignment_phase::assigned:
      now.note = "on its way to " + places_of(m);
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
  const auto made = spawn_on_own_thread<coordinator>(system, std::move(setup));
  return {made, caf::actor_cast<caf::actor>(made)};
}

void coordinator_handle::interrupt() const { caf::anon_send(local_, interrupt_cluster{}); }
void coordinator_handle::steer(const std::string& model, model_command what, command_sink answer) const {
  caf::anon_send(local_, steer_by_name{model, what, std::move(answer)});
}
void coordinator_handle::read_status(status_sink answer) const {
  caf::anon_send(local_, read_cluster{std::move(answer)});
}

void coordinator_handle::add(cluster_addition model, command_sink answer) const {
  caf::anon_send(local_, add_to_cluster{std::move(model), std::move(answer)});
}
void coordinator_handle::keep(const std::string& model, std::optional<std::uint32_t> steps, kept_sink answer) const {
  caf::anon_send(local_, keep_by_name{model, steps, std::move(answer)});
}
void coordinator_handle::copy_begun(const std::string& copy, bool joined) const {
  caf::anon_send(local_, copy_has_begun{copy, joined});
}

}  // namespace hydra
