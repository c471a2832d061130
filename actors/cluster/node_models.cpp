// The models that the COORDINATOR has given to a NODE.

#include "actors/cluster/exchange.hpp"
#include "actors/cluster/folder_receiver.hpp"
#include "actors/cluster/node_actor.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/saved_model.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra {

held_model* node::current(std::uint32_t model, assignment_epoch epoch) {
  const auto found = held_.find(model);
  return found != held_.end() && found->second.epoch == epoch ? &found->second : nullptr;
}

void node::on_take_model(const take_model& m) {
  if (!run_.run || over_ || end_) {
    if (m.checkpoints.from) {
      send(m.checkpoints.from, drop_folders{m.checkpoints.offer});
    }
    return;
  }
  name_added(m);
  if (m.place > 0) {
    helped_.insert(run_.models.at(m.model));
  } else {
    helped_.erase(run_.models.at(m.model));
  }
  held_[m.model] = {.epoch = m.epoch, .team = m.team, .place = m.place, .added = m.added};
  if (run_.exchange && !m.team.empty()) {
    run_.exchange->form({m.model, run_.models.at(m.model), m.epoch, m.team, m.place},
                        [self = self_handle(), model = m.model, epoch = m.epoch] {
                          post(self, team_formed{model, epoch});
                        });
  }
  receive(m);
}

void node::name_added(const take_model& m) {
  if (!m.added.name.empty()) {
    run_.models.resize(std::max<std::size_t>(run_.models.size(), m.model + 1));
    run_.models[m.model] = m.added.name;
  }
}

void node::receive(const take_model& m) {
  if (const auto open = receiving_.find(m.model); open != receiving_.end()) {
    if (open->second && open->second->checkpoints.from) {
      send(open->second->checkpoints.from, drop_folders{open->second->checkpoints.offer});
    }
    open->second = m;
    return;
  }
  receiving_[m.model];
  receive_folders(system(), {.what = m.checkpoints, .into = checkpoints_of(m.model), .replaces = true},
                  [self = self_handle(), model = m.model, epoch = m.epoch](const fault& why) {
                    post(self, checkpoints_arrived{model, epoch, why});
                  });
}

void node::on_checkpoints_arrived(const checkpoints_arrived& m) {
  const auto open = receiving_.extract(m.model);
  if (open && open.mapped() && current(m.model, open.mapped()->epoch)) {
    receive(*open.mapped());
  }
  auto* held = current(m.model, m.epoch);
  if (!held) {
    return;
  }
  if (m.why) {
    return refuse(m.model, m.epoch, m.why);
  }
  const auto saved = list_states(checkpoints_of(m.model));
  held->from = saved.empty() ? "" : saved.front().filename().string();
  if (held->team.empty()) {
    return start(m.model, *held);
  }
  run_.exchange->ready(m.model, m.epoch, newest_step(checkpoints_of(m.model)).value_or(0));
}

void node::on_team_formed(const team_formed& m) {
  if (auto* held = current(m.model, m.epoch)) {
    start(m.model, *held);
  }
}

void node::start(std::uint32_t model, held_model& held) {
  held.phase = held_phase::starting;
  if (!held.added.name.empty() && !joined_.contains(model)) {
    return run_.open ? run_.open(model, held.epoch, held.added)
                     : refuse(model, held.epoch, {fault_code::refused, "this node takes no models that are added"});
  }
  command(model, held.epoch, model_command::drop);
  command(model, held.epoch, model_command::resume, held.share());
}

void node::command(std::uint32_t model, assignment_epoch epoch, model_command what, const step_share& share) {
  const auto answer = [self = self_handle(), model, epoch, what](const fault& why) {
    post(self, command_answered{model, epoch, what, why});
  };
  run_.run->steer(run_.models.at(model), what, answer, share);
}

void node::on_opened(const opened_model& m) {
  if (!current(m.model, m.epoch)) {
    return;
  }
  if (m.why) {
    return refuse(m.model, m.epoch, m.why);
  }
  joined_.insert(m.model);
  const auto refused = [self = self_handle(), m](const fault& why) {
    post(self, added_refused{m.model, m.epoch, why});
  };
  const auto joined = [self = self_handle(), m, refused](const fault& why) {
    why ? refused(why) : post(self, command_answered{m.model, m.epoch, model_command::resume, {}});
  };
  run_.run->queue_model(*m.what, joined, refused);
}

void node::on_added_refused(const added_refused& m) {
  joined_.erase(m.model);
  auto* held = current(m.model, m.epoch);
  if (held && held->phase == held_phase::pausing) {  // it has waited
    hand_over(m.model, *held, {.what = handover::given_back});
  } else if (held) {
    refuse(m.model, m.epoch, m.why);
  }
}

void node::on_drop_assigned(const drop_assigned& m) {
  if (const auto* held = current(m.model, m.epoch)) {
    if (held->phase != held_phase::handed_over) {
      say(fmt::format("{} is not trained here any more", run_.models[m.model]));
    }
    drop(m.model);
  }
}

void node::on_team_lost(const team_failure& m) {
  if (auto* held = current(m.model, m.epoch); held && held->phase != held_phase::handed_over) {
    refuse(m.model, m.epoch, m.why, m.member);
  }
}

void node::drop(std::uint32_t model) {
  const auto held = held_.extract(model).mapped();
  if (run_.exchange && !held.team.empty()) {
    run_.exchange->disband(model, held.epoch);
  }
  const bool under_way = held.phase != held_phase::arriving && held.phase != held_phase::handed_over;
  if (under_way && run_.run && !over_) {
    command(model, held.epoch, model_command::drop);
  }
}

void node::on_command_answered(const command_answered& m) {
  if (m.what == model_command::resume && m.why.code == fault_code::bad_input) {
    joined_.erase(m.model);  // it was dropped before it had joined
  }
  auto* held = current(m.model, m.epoch);
  if (!held) {
    return;
  }
  if (m.what == model_command::save) {
    return send_kept(m);
  }
  if (m.what == model_command::resume) {
    if (m.why) {
      return refuse(m.model, m.epoch, m.why);
    }
    held->phase = held_phase::training;
    if (!held->helps()) {
      send(setup_.coordinator, assignment_began{m.model, m.epoch});
      if (held->from.empty()) {  // else they came with its first steps
        tell_before(m.model);
      }
    }
    say(fmt::format("{} is trained here{}{}", run_.models[m.model],
                    held->from.empty() ? "" : ", from its checkpoint " + held->from,
                    held->team.empty() ? "" : fmt::format(", by {} nodes together", held->team.size())));
  } else if (m.what == model_command::pause_between_steps && held->phase == held_phase::pausing) {
    on_paused(m, *held);
  }
}

void node::send_kept(const command_answered& m) {
  checkpoint_offered message{.model = m.model, .epoch = m.epoch, .what = handover::kept};
  message.why = m.why ? m.why : offer_states(message);
  send_lines();
  send(setup_.coordinator, message);
}

void node::on_paused(const command_answered& m, held_model& held) {
  if (m.why) {
    held.phase = held_phase::training;
    if (m.why.code != fault_code::refused) {  // that one has ended, or is being stopped
      send(setup_.coordinator, assignment_stays{m.model, m.epoch, m.why});
    }
    return;
  }
  say(fmt::format("{} is handed over", run_.models[m.model]));
  hand_over(m.model, held, {.what = handover::given_back});
}

void node::on_give_back(const give_back& m) {
  auto* held = current(m.model, m.epoch);
  if (!held || over_) {
    return;
  }
  if (held->phase == held_phase::handed_over) {  // it could not be pulled
    send_offer(m.model, *held);
  } else if (held->phase == held_phase::training) {
    held->phase = held_phase::pausing;
    command(m.model, m.epoch, model_command::pause_between_steps);
  }
}

void node::on_stop_assigned(const stop_assigned& m) {
  if (current(m.model, m.epoch) && run_.run) {
    command(m.model, m.epoch, model_command::stop);
  }
}

void node::on_keep_assigned(const keep_assigned& m) {
  if (current(m.model, m.epoch) && run_.run && !over_) {
    command(m.model, m.epoch, model_command::save);
  }
}

void node::on_trial_told(const trial_told& m) {
  if (current(m.model, m.epoch) && run_.run) {
    run_.run->decided({.trial = run_.models.at(m.model),
                       .steps = m.steps,
                       .verdict = m.stop ? trial_verdict::stop : trial_verdict::go_on});
  }
}

void node::on_offer_found(const offer_found& m) {
  checkpoint_offered message{.model = m.model, .what = handover::found};
  offer_states(message);
  send(setup_.coordinator, message);
}

void node::refuse(std::uint32_t model, assignment_epoch epoch, const fault& why,
                  std::optional<std::uint32_t> because_of) {
  const auto place = because_of.value_or(held_.at(model).place);
  drop(model);
  send(setup_.coordinator, assignment_refused{setup_.hello.instance, model, epoch, why, place});
  say(fmt::format("{} cannot be trained here: {}", run_.models[model], why.text));
}

fault node::offer_states(checkpoint_offered& to) try {
  const auto states = states_to_continue(checkpoints_of(to.model));
  const auto steps = states.empty() ? 0 : read_checkpoint(states.front()).standing.next.step;
  to.checkpoints = offer(states);
  to.steps = steps;
  return {};
} catch (const fault_error& e) {
  return {fault_code::io, e.what()};
}

void node::hand_over(std::uint32_t model, held_model& held, checkpoint_offered what) {
  held.phase = held_phase::handed_over;  // its team goes on until the COORDINATOR has it
  held.last = std::move(what);
  send_offer(model, held);
}

void node::send_offer(std::uint32_t model, held_model& held) {
  auto message = held.last;
  message.model = model;
  message.epoch = held.epoch;
  if (const auto why = offer_states(message)) {
    return refuse(model, held.epoch, why);
  }
  send_lines();
  send(setup_.coordinator, message);
}

}  // namespace hydra
