// Models that are added to the run of the COORDINATOR, and states of others that are saved for them.

#include "actors/cluster/coordinator_actor.hpp"
#include "partition/checkpoint/kept_checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace hydra {

/// Its number. Nodes hear of it when it is given to them.
std::size_t coordinator::append(const cluster_addition& m) {
  const auto model = plan_.add_model(m.model.name, duration{1}, {});
  setup_.what.models.push_back(m.model.name);
  plan_.begins_at(model, m.before);
  added_.push_back(m.model);
  record_.models.push_back(
      {.name = m.model.name, .of = m.steps, .before = m.before, .lanes = m.lanes, .replicas = m.replicas});
  return model;
}

void coordinator::on_add(const add_to_cluster& m) {
  const auto& name = m.what.model.name;
  if (ending_ || interrupted_) {
    return m.answer({fault_code::refused,
                     fmt::format("model '{}': {}", name, ending_ ? "the run has ended" : "the run is being halted")});
  }
  if (std::ranges::count(setup_.what.models, name) > 0) {
    return m.answer(
        {fault_code::bad_input, fmt::format("model '{}': name: another model of the run has it already", name)});
  }
  add_inputs(inputs_, m.what.inputs);
  const auto model = append(m.what);
  if (works_.size() == model) {  // else a node has to plan first
    works_.push_back(expected_work(m.what.steps));
    plan_.remains(model, remaining_of(model, m.what.before));
  }
  say(fmt::format("{} joins the run{}", name,
                  m.what.nodes > 1 ? ", on one node: parallel.nodes is for models that are in the workload file" : ""));
  m.answer({});
  settle();
}

/// How long its steps take is not known before: as long as those of others.
duration coordinator::expected_work(std::uint32_t steps) const {
  duration work{};
  std::uint64_t known = 0;
  for (std::size_t i = 0; i < works_.size(); ++i) {
    work += works_[i];
    known += record_.models[i].of;
  }
  return known > 0 ? work / static_cast<std::int64_t>(known) * std::max(steps, 1U) : duration{1};
}

void coordinator::on_copy_begun(const copy_has_begun& m) {
  if (trials_.searches()) {
    search([&] { return trials_.begun(m.copy, m.joined); });
    settle();
  }
}

void coordinator::on_keep(const keep_by_name& m) {
  const auto model = find_model(m.model, [&](const fault& why) { m.answer(why, {}); });
  if (!model) {
    return;
  }
  if (ending_ || interrupted_) {
    return m.answer({fault_code::refused, ending_ ? "the run has ended" : "the run is being halted"}, {});
  }
  if (m.steps && !trials_.searches()) {
    return m.answer({fault_code::bad_input, "the search has failed"}, {});
  }
  keeping_.push_back({.model = *model, .steps = m.steps, .answer = m.answer});
  answer_keeps();
}

/// Of one that no node has, what was saved last is its state.
bool coordinator::is_there(const wanted_state& w) const {
  const auto& now = plan_.of(w.model);
  if (is_arriving(w.model)) {
    return false;  // its folder changes
  }
  return now.phase == assignment_phase::ended || (w.steps && now.saved_at == w.steps) ||
         (!w.steps && now.phase == assignment_phase::waiting && !now.held);
}

bool coordinator::may_be_kept(const wanted_state& w) const {
  const auto& now = plan_.of(w.model);
  const auto waits = waits_at_.find(w.model);
  const bool is_at = waits != waits_at_.end() && waits->second == std::pair{now.epoch, w.steps.value_or(0)};
  return now.phase == assignment_phase::training && w.asked != now.epoch && (!w.steps || is_at) &&
         clock().now() >= w.not_before;
}

/// Answers those whose state is in the run folder, and asks nodes for others.
void coordinator::answer_keeps() {
  std::erase_if(keeping_, [this](const wanted_state& w) {
    const bool there = is_there(w);
    if (there) {
      answer_kept(w);
    }
    return there;
  });
  for (auto& w : keeping_) {
    if (may_be_kept(w)) {
      const auto& now = plan_.of(w.model);
      w.asked = now.epoch;
      send(node_of(*now.node), keep_assigned{w.model, now.epoch});
    }
  }
}

/// It has come, or could not be saved. No other one comes meanwhile.
void coordinator::take_kept(const checkpoint_offered& m) {
  std::erase_if(keeping_, [&](wanted_state& w) {
    if (w.model != m.model || w.asked != m.epoch) {
      return false;
    }
    if (m.why && !w.steps) {
      w.answer(m.why, {});
    } else if (!m.why && (!w.steps || w.steps == m.steps)) {
      answer_kept(w);
    } else if (!m.why && m.steps > *w.steps) {
      w.answer({fault_code::bad_input, fmt::format("{} has gone on", plan_.of(w.model).name)}, {});
    } else {  // a copy that does not begin would change what is decided
      say(fmt::format("{} is to be saved after {} steps, for a copy: {}; it is tried again", plan_.of(w.model).name,
                      *w.steps, m.why ? m.why.text : "it was not there"));
      w.asked.reset();
      w.not_before = clock().now() + retry_interval;
      return false;
    }
    return true;
  });
}

void coordinator::answer_kept(const wanted_state& w) const {
  std::filesystem::path state;
  try {
    state = keep_checkpoint(checkpoints_of(w.model));
  } catch (...) {
    auto why = to_fault(std::current_exception());
    why.code = why.code == fault_code::refused ? fault_code::bad_input : why.code;  // the run does not end
    return w.answer(why, {});
  }
  w.answer({}, state);
}

void coordinator::answer_trial_keeps(const fault& why) {
  std::erase_if(keeping_, [&](const wanted_state& w) {
    if (w.steps) {
      w.answer(why, {});
    }
    return w.steps.has_value();
  });
}

}  // namespace hydra
