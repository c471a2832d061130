// What the run of a NODE does, for the COORDINATOR: progress, checkpoints, evaluations, ends.

#include "actors/cluster/exchange.hpp"
#include "actors/cluster/node_actor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace hydra {

namespace {

constexpr auto report_interval = std::chrono::milliseconds(200);  ///< between two node_progressed

}  // namespace

void node::on_trial_evaluated(const trial_evaluated& m) {
  const auto model = number_of(m.result.trial);
  if (const auto held = held_.find(model); held != held_.end() && !held->second.helps()) {
    send(setup_.coordinator, trial_waits{model, held->second.epoch, m.result.steps, sent_number(m.result.score)});
  }
}

std::uint32_t node::number_of(const std::string& name) const {
  return static_cast<std::uint32_t>(std::ranges::find(run_.models, name) - run_.models.begin());
}

void node::on_metrics_line(const metrics_line& m) {
  if (m.before) {
    lines_before_[m.model] += m.text;
    if (begins_here(m.model)) {
      tell_before(number_of(m.model));
    }
  } else if (!helped_.contains(m.model)) {
    lines_ += m.text;
  }
}

void node::tell_before(std::uint32_t model) {
  if (auto lines = lines_before_.extract(run_.models[model])) {
    before_.push_back({model, std::move(lines.mapped())});
  }
}

bool node::begins_here(const std::string& name) const {
  return std::ranges::any_of(held_, [&](const auto& entry) {
    const auto& [model, held] = entry;
    return run_.models.at(model) == name && held.phase != held_phase::arriving && held.phase != held_phase::starting &&
           held.from.empty() && !held.helps();
  });
}

void node::on_report_due(const report_due&) {
  check_answer();
  if (finished_) {
    return;
  }
  if (run_.run && !over_ && !end_) {
    run_.run->read_status([self = self_handle()](run_status s) { post(self, status_arrived{std::move(s)}); });
  }
  report_later();
}

void node::report_later() { delayed_send(this, report_interval, report_due{}); }

void node::on_status(const status_arrived& m) {
  if (over_ || coordinator_lost_) {
    return;
  }
  send_progress(m.status);
  for (std::uint32_t model = 0; model < run_.models.size(); ++model) {
    const auto* const there = find(m.status, model);
    if (!there) {
      continue;
    }
    const auto& now = *there;
    const bool saved = std::exchange(saved_[model], now.checkpoints) != now.checkpoints;
    if (const auto held = held_.find(model); held != held_.end()) {
      follow(model, held->second, now, saved);
    }
  }
}

const model_now* node::find(const run_status& s, std::uint32_t model) const {
  if (model < s.models.size() && s.models[model].name == run_.models[model]) {
    return &s.models[model];  // but for those that were added
  }
  const auto found = std::ranges::find(s.models, run_.models[model], &model_now::name);
  return found == s.models.end() ? nullptr : &*found;
}

void node::follow(std::uint32_t model, held_model& held, const model_now& now, bool saved) {
  if (held.phase != held_phase::training && held.phase != held_phase::pausing) {
    return;
  }
  if (now.released) {
    on_ended(model, held, now);
  } else if (saved && !held.helps()) {
    offer_saved(model, held);
  }
}

void node::on_ended(std::uint32_t model, held_model& held, const model_now& now) {
  const bool failed = now.phase == model_phase::failed;
  const fault why{now.why, now.note};
  if (failed && now.why != fault_code::not_finite) {
    return refuse(model, held.epoch, why);
  }
  if (held.helps()) {
    say(fmt::format("{} has ended, after {} steps", run_.models[model], now.steps));
    held.phase = held_phase::handed_over;  // by the first node
    return;
  }
  if (!failed && now.unsaved) {
    return refuse(model, held.epoch, {fault_code::io, "it has ended, but could not be saved"});
  }
  say(fmt::format("{} has ended here, after {} steps", run_.models[model], now.steps));
  hand_over(model, held,
            {.what = handover::ended, .end = now.phase, .why = failed ? why : fault{}, .digest = now.digest});
}

void node::offer_saved(std::uint32_t model, const held_model& held) {
  checkpoint_offered message{.model = model, .epoch = held.epoch};
  if (!offer_states(message)) {
    send(setup_.coordinator, message);
  }
}

node_progressed node::take_lines() {
  node_progressed message{.instance = setup_.hello.instance};
  message.before = std::exchange(before_, {});
  message.metrics_lines = std::exchange(lines_, {});
  return message;
}

void node::send_lines() {
  if (!before_.empty() || !lines_.empty()) {
    send(setup_.coordinator, take_lines());
  }
}

void node::send_progress(const run_status& s) {
  auto message = take_lines();
  for (const auto& [model, held] : held_) {
    const bool under_way = held.phase != held_phase::arriving && held.phase != held_phase::starting;
    const auto* const there = under_way ? find(s, model) : nullptr;
    if (there && there->phase != model_phase::waiting) {
      const auto& now = *there;
      assignment_progress p{.model = model, .epoch = held.epoch, .steps = now.steps, .of = now.of.value_or(0)};
      p.loss = sent_number(now.loss);
      p.validation = sent_number(now.validation);
      p.step_work = now.step_work;
      p.step_chain = now.step_chain;
      message.models.push_back(p);
    }
  }
  for (const auto& d : s.devices) {
    message.devices.push_back({d.busy, d.memory.used, d.memory.peak, d.memory.budget});
  }
  message.host_used = s.host.used;
  message.host_peak = s.host.peak;
  message.host_budget = s.host.budget;
  message.elapsed = s.elapsed;
  message.spent = sent_expense(s.spent);
  message.currency = s.currency;
  for (std::uint32_t model = 0; model < run_.models.size(); ++model) {
    const auto* const there = find(s, model);
    message.spent_by.emplace_back(there ? there->spent : expense{});
  }
  if (run_.exchange) {
    const auto totals = run_.exchange->totals();
    message.exchanged = totals.sent;
    message.exchanging = totals.under_way;
  }
  send(setup_.coordinator, message);
}

}  // namespace hydra
