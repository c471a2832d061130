// Trials of a search on the nodes of the COORDINATOR: it asks the rule, nodes carry out what that decides. One that is
// lost with its node, or moves, is evaluated again, and gets the same answer.

#include "actors/cluster/coordinator_actor.hpp"

#include <algorithm>
#include <exception>
#include <limits>

namespace hydra {

void coordinator::on_trial_waits(const trial_waits& m) {
  if (!is_current(m.model, m.epoch)) {
    return;
  }
  const auto& name = plan_.of(m.model).name;
  const model_id model{m.model};
  if (!trials_.has(name)) {  // its search has failed
    return tell({name, model, m.steps});
  }
  const trial_result result{name, m.steps, m.score.value().value_or(std::numeric_limits<double>::quiet_NaN())};
  waits_at_[m.model] = {m.epoch, m.steps};
  search([&] { return trials_.evaluated(result, model); });
  plan_.progressed(m.model, m.epoch, m.steps, remaining_of(m.model, m.steps));
}

void coordinator::search(const std::function<trial_gate::answers()>& asks) try {
  std::ranges::for_each(asks(), [this](const trial_answer& a) { tell(a); });
  watch_record();
} catch (...) {
  end_search(to_fault(std::current_exception()));
}

void coordinator::end_search(const fault& why) {
  const auto text = "the search failed: " + why.text + "; it decides nothing any more, all its trials go on";
  say(text);
  record_.notes.push_back(text);
  answer_trial_keeps({fault_code::bad_input, "the search has failed"});
  std::ranges::for_each(trials_.give_up(), [this](const trial_answer& a) { tell(a); });
}

/// One that no node has now asks again when it is there.
void coordinator::tell(const trial_answer& a) {
  const auto model = a.model.value;
  const auto& now = plan_.of(model);
  waits_at_.erase(model);
  plan_.remains(model, remaining_of(model, a.steps));
  for (std::size_t n = 0; n < plan_.nodes().size(); ++n) {
    if (now.is_on(n)) {
      send(node_of(n), trial_told{model, now.epoch, a.steps, a.stop});
    }
  }
}

/// What cannot be recorded is not carried out: trials wait.
void coordinator::watch_record() {
  const auto& why = trials_.unrecorded();
  if (!why) {
    if (record_retry_.succeeded()) {
      say("the decisions of the search can be recorded again");
    }
    return;
  }
  const auto now = clock().now();
  if (record_retry_.failed(now)) {
    say("trials wait until the decisions of the search can be recorded: " + why.text);
  }
  if (const auto wait = record_retry_.next_try(now)) {
    record_due_ = now + *wait;
  }
}

void coordinator::record_again() {
  if (record_due_ && clock().now() >= *record_due_) {
    record_due_.reset();
    record_retry_.is_due();
    search([this] { return trials_.record(); });
  }
}

/// One that has moved, or was lost, does not until it is there again.
bool coordinator::waits_for_decision(std::size_t model) const {
  const auto waits = waits_at_.find(static_cast<std::uint32_t>(model));
  return waits != waits_at_.end() && waits->second.first == plan_.of(model).epoch;
}

std::uint32_t coordinator::steps_ahead(std::size_t model, std::uint32_t steps) const {
  const auto& record = record_.models[model];
  if (waits_for_decision(model)) {
    return 0;
  }
  const auto next = trials_.has(record.name) ? trials_.compares_after(record.name, steps) : 0;
  const auto until = next > 0 ? next : std::max(record.of, 1U);
  return until - std::min(steps, until);
}

}  // namespace hydra
