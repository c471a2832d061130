// Commands from outside: a model is stopped, paused or resumed.

#include "actors/run/supervisor_actor.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace hydra {

namespace {

void answer(const command_sink& sink, const fault& why) {
  if (sink) {
    sink(why);
  }
}

const char* text_of(model_phase s) {
  switch (s) {
    case model_phase::waiting:
      return "waits for memory";
    case model_phase::training:
      return "is being trained";
    case model_phase::pausing:
      return "is being paused";
    case model_phase::paused:
      return "is paused";
    case model_phase::finished:
      return "has finished";
    case model_phase::stopped:
      return "was stopped";
    case model_phase::failed:
      return "has failed";
  }
  return "";
}

}  // namespace

void supervisor::on_steer_model(const steer_model& m) {
  if (is_over()) {
    return answer(m.answer, {fault_code::refused,
                             stage_ == run_stage::halting ? "the run is being halted" : "the run has ended"});
  }
  commanded_ = true;
  const auto model = phases_.find(m.name);
  if (!model) {
    return steer_new(m);
  }
  switch (m.what) {
    case model_command::stop:
      return stop(*model, m.answer);
    case model_command::pause:
    case model_command::pause_between_steps:
      return pause(*model, m.answer, {m.what == model_command::pause_between_steps, true});
    case model_command::drop:
      return drop(*model, m.answer);
    case model_command::resume:
      if (auto* what = phases_.description(*model)) {
        what->share = m.share;
      }
      return resume(*model, m.answer);
    case model_command::save:
      return keep(*model, m.answer);
  }
}

/// A model that was added, and waits: it has no id yet. A run that begins paused can be given it again.
void supervisor::steer_new(const steer_model& m) {
  const bool leaves = setup_.begin_paused && m.what != model_command::resume && m.what != model_command::save;
  if (m.what == model_command::stop || leaves) {
    if (const auto wanted = queue_.remove(m.name)) {
      refuse(*wanted,
             {fault_code::cancelled, fmt::format("model '{}': it was stopped before there was memory for it", m.name)});
      end_if_over();
      return answer(m.answer, {});
    }
  }
  std::vector<std::string> known;
  for (std::uint32_t i = 0; i < phases_.size(); ++i) {
    known.push_back(phases_.name_of(model_id{i}));
  }
  const auto why = queue_.has(m.name)
                       ? fmt::format("model \"{}\" has not joined the run yet", m.name)
                       : fmt::format("there is no model \"{}\"{}", shown(m.name), known_instead(m.name, known));
  answer(m.answer, {fault_code::bad_input, why});
}

void supervisor::stop(model_id model, const command_sink& sink) {
  const auto state = phases_.of(model);
  if (state == model_phase::training) {
    phases_.is_due(model, due_command::stop);
    send(actors_.tasks.at(model.value), stop_model{});
  } else if (state == model_phase::waiting || state == model_phase::paused) {
    queue_.remove(phases_.name_of(model));
    phases_.end(model, model_phase::stopped);
    forget(model);
    send(actors_.controller, trial_left{phases_.name_of(model)});
    send(actors_.reporter, task_ended{model, 0, true, {}, {}});
    observe(model_ended{model, phases_.name_of(model), phases_.steps(model), true, {}});
    release_if_over(model);
    prepare_next();
    end_if_over();
  } else {
    return answer(sink, objection(model, "stopped"));
  }
  answer(sink, {});
}

void supervisor::pause(model_id model, const command_sink& sink, const pause_model& how) {
  const auto state = phases_.of(model);
  if (setup_.checkpoints.store == nullptr && how.saves) {
    return answer(sink, cannot_save(model, "paused"));
  }
  if (phases_.trial(model) == trial_wait::paused) {  // from now on by command: the decision does not resume it
    const bool may_fail = state == model_phase::pausing;  // it is trained again then, and waits for it as before
    phases_.set_trial(model, may_fail ? trial_wait::with_memory : trial_wait::none);
    return stay_paused(model, sink);
  }
  if (phases_.take_back(model, due_command::resume)) {
    return stay_paused(model, sink);
  }
  if (!how.saves) {
    phases_.take_back(model, due_command::stop);
  }
  if (phases_.stops(model)) {
    answer(sink, {fault_code::refused,
                  fmt::format("model '{}' cannot be paused: it is being stopped", phases_.name_of(model))});
  } else if (state == model_phase::training) {
    phases_.pauses(model);
    steered_.emplace(model, sink);
    send(actors_.tasks.at(model.value), how);
  } else if (state == model_phase::pausing && !how.saves) {
    steered_.emplace(model, sink);
    send(actors_.tasks.at(model.value), how);
  } else if (state == model_phase::waiting) {
    queue_.remove(phases_.name_of(model));
    pause_without_memory(model);
    observe(model_paused{model, phases_.name_of(model), phases_.steps(model)});
    prepare_next();
    note_wait();
    answer(sink, {});
  } else {
    answer(sink, objection(model, "paused"));
  }
}

/// One that has ended, too: nobody may have what it has come to.
void supervisor::drop(model_id model, const command_sink& sink) {
  if (phases_.has_ended(model) && phases_.description(model) != nullptr) {
    phases_.reopens(model);
    return answer(sink, {});
  }
  pause(model, sink, {false, false});
}

void supervisor::pause_without_memory(model_id model) {
  phases_.end(model, model_phase::paused);
  send(actors_.reporter, task_ended{model, 0, false, {fault_code::interrupted, "it was paused"}, {}, true});
}

/// One that is paused, or about to be.
void supervisor::stay_paused(model_id model, const command_sink& sink) {
  if (phases_.has_memory(model)) {
    steered_.emplace(model, sink);
  } else {
    answer(sink, {});
  }
  note_wait();
}

void supervisor::resume(model_id model, const command_sink& sink) {
  const auto state = phases_.of(model);
  if (waits_for_decision(model)) {
    return answer(
        sink, {fault_code::refused, fmt::format("model '{}' cannot be resumed: it waits for the decision of the search",
                                                phases_.name_of(model))});
  }
  if (state != model_phase::paused && state != model_phase::pausing) {
    return answer(sink, objection(model, "resumed"));
  }
  if (phases_.has_memory(model)) {
    phases_.is_due(model, due_command::resume);
  } else {
    admit_again(model);
    prepare_next();
  }
  answer(sink, {});
}

/// One that is not being trained has been saved when it left.
void supervisor::keep(model_id model, const command_sink& sink) {
  const auto state = phases_.of(model);
  if (setup_.checkpoints.store == nullptr) {
    return answer(sink, cannot_save(model, "saved"));
  }
  if (state == model_phase::training || state == model_phase::pausing) {
    kept_.emplace(model, sink);
    send(actors_.tasks.at(model.value), keep_model{});
  } else {
    answer(sink, {});
  }
}

/// Who is refused because the run is being halted can ask again when it is resumed.
void supervisor::on_model_kept(const model_kept& m) {
  answer_all(kept_, m.model, m.why && is_over() ? fault{fault_code::refused, m.why.text} : m.why);
}

fault supervisor::cannot_save(model_id model, const char* wish) const {
  return {fault_code::refused,
          fmt::format("model '{}' cannot be {}: this run saves nothing (checkpoint.keep = 0, or it has no folder)",
                      phases_.name_of(model), wish)};
}

void supervisor::admit_again(model_id model) {
  phases_.waits(model);
  queue_.add({.what = *phases_.description(model), .known = model, .continues = true});
}

void supervisor::on_trial_held(const trial_held& m) {
  if (phases_.of(m.model) == model_phase::training && actors_.controller) {
    phases_.set_trial(m.model, trial_wait::with_memory);
    make_room();
    note_wait();
  }
}

/// One that is still being paused is resumed, and then asks again whether it stops.
void supervisor::on_trial_decided(const trial_decided& m) {
  if (phases_.set_trial(m.model, trial_wait::none) != trial_wait::paused || is_over()) {
    return;
  }
  const auto phase = phases_.of(m.model);
  if (phase == model_phase::paused && m.stop) {
    stop(m.model, nullptr);
  } else if (phase == model_phase::paused || phase == model_phase::pausing) {
    resume(m.model, nullptr);
  }
}

void supervisor::make_room() {
  if (is_over() || !queue_.first_is_too_large() || phases_.memory_is_coming_back()) {
    return;
  }
  for (const auto model : phases_.trials(trial_wait::with_memory)) {
    if (!phases_.memory_is_coming_back() && !phases_.stops(model) && !unsaved_.contains(model)) {
      pause(model, nullptr);
      phases_.set_trial(model, trial_wait::paused);
    }
  }
}

void supervisor::on_read_status(const read_status& m) {
  read_status answer = m;
  for (std::uint32_t i = 0; i < phases_.size(); ++i) {
    const model_id model{i};
    answer.status.models.push_back(
        {.name = phases_.name_of(model), .phase = phases_.of(model), .note = note_on(model)});
    answer.status.models.back().released = phases_.has_ended(model) && !phases_.has_memory(model);
    if (waits_for_decision(model)) {
      answer.status.models.back().phase = model_phase::waiting;
    }
  }
  note_queue(answer.status.models);
  send(actors_.reporter, answer);
}

std::string supervisor::note_on(model_id model) const {
  if (phases_.stops(model)) {
    return "until it stops, with the step that has begun";
  }
  if (waits_for_decision(model)) {
    return "for the decision of the search";
  }
  return phases_.of(model) == model_phase::paused && waits_for_command() ? "nothing else is left to train" : "";
}

void supervisor::note_queue(std::vector<model_now>& models) const {
  const auto line = queue_.in_order();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!line[i]->known) {
      models.push_back({.name = line[i]->what.name});
    }
    auto& m = line[i]->known ? models.at(line[i]->known->value) : models.back();
    m.note = fmt::format("for host memory: {} of {}", i + 1, line.size());
  }
}

/// Not before callbacks have returned: they may resume one.
void supervisor::note_wait() {
  const bool waits = !setup_.begin_paused && unacknowledged_ == 0 && waits_for_command();
  if (std::exchange(waits_, waits) || !waits) {
    return;
  }
  std::vector<std::string> paused;
  for (std::uint32_t i = 0; i < phases_.size(); ++i) {
    if (phases_.of(model_id{i}) == model_phase::paused && phases_.trial(model_id{i}) != trial_wait::paused) {
      paused.push_back(phases_.name_of(model_id{i}));
    }
  }
  services_.log->warn(
      "nothing is left to train but what is paused ({}): the run waits until that is resumed or stopped "
      "(session::resume() or stop(); hydra control RUN resume MODEL), or until it is interrupted",
      fmt::join(paused, ", "));
}

fault supervisor::objection(model_id model, const char* wish) const {
  return {fault_code::refused,
          fmt::format("model '{}' cannot be {}: it {}", phases_.name_of(model), wish, text_of(phases_.of(model)))};
}

void supervisor::on_pause_failed(const pause_failed& m) {
  phases_.continues(m.model);
  if (phases_.trial(m.model) == trial_wait::paused) {
    phases_.set_trial(m.model, trial_wait::with_memory);
    try_later(m.model);
  }
  const fault why{m.why.code, fmt::format("model '{}' continues: it could not be saved to be paused: {}",
                                          phases_.name_of(m.model), m.why.text)};
  services_.log->warn("{}", why.text);
  answer_all(steered_, m.model, why);
  make_room();
}

/// Another trial may be saved, on another disk; this one is tried again after a while.
void supervisor::try_later(model_id model) {
  const auto now = clock().now();
  unsaved_.insert(model);
  room_retry_.failed(now);
  if (const auto wait = room_retry_.next_try(now)) {
    delayed_send(this, *wait, make_room_again{});
  }
}

void supervisor::on_make_room_again(const make_room_again&) {
  room_retry_.is_due();
  unsaved_.clear();
  make_room();
}

void supervisor::answer_all(waiting_sinks& sinks, model_id model, const fault& why) {
  for (auto waiting = sinks.extract(model); waiting; waiting = sinks.extract(model)) {
    answer(waiting.mapped(), why);
  }
}

}  // namespace hydra
