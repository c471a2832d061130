#include "actors/run/trial_gate.hpp"

#include <algorithm>
#include <exception>
#include <iterator>

namespace hydra {

trial_gate::trial_gate(search_setup setup) : setup_(std::move(setup)) {
  for (const auto& c : setup_.copies) {
    expect(c);
  }
}

trial_gate::answers trial_gate::evaluated(const trial_result& result, model_id model) {
  held_[result.trial] = {.trial = result.trial, .model = model, .steps = result.steps};
  const auto known = decided_.find({result.trial, result.steps});
  return known == decided_.end() ? decide_after(result) : carried_out({&known->second, 1});
}

trial_gate::answers trial_gate::begun(const std::string& copy, bool joined) {
  for (auto& [of, copies] : copies_) {
    std::erase_if(copies, [&copy](const trial_copy& c) { return c.trial == copy; });
  }
  auto all = joined ? answers{} : ended(copy);
  for (auto of = copied_.begin(); of != copied_.end();) {
    const bool was_last = of->second.to_begin.erase(copy) > 0 && of->second.to_begin.empty();
    if (was_last) {
      all.push_back(std::move(of->second.answer));
    }
    of = was_last ? copied_.erase(of) : std::next(of);
  }
  return all;
}

trial_gate::answers trial_gate::ended(const std::string& trial) {
  held_.erase(trial);
  copied_.erase(trial);
  if (!gone_.insert(trial).second) {
    return {};
  }
  auto all = setup_.stopped.contains(trial) ? answers{} : decide_after(trial_ended{trial});
  for (const auto& [of, copies] : copies_) {
    if (of.first == trial) {
      begin(copies);
    }
  }
  return all;
}

trial_gate::answers trial_gate::decided(const trial_decision& decision) {
  const auto& first = decided_.emplace(std::pair{decision.trial, decision.steps}, decision).first->second;
  const auto waiting = held_.find(decision.trial);
  return waiting != held_.end() && waiting->second.steps == decision.steps ? carried_out({&first, 1}) : answers{};
}

trial_gate::answers trial_gate::record() {
  answers all;
  for (; !unrecorded_.empty() && can_record(unrecorded_.front()); unrecorded_.pop_front()) {
    std::ranges::move(carried_out(unrecorded_.front().decisions), std::back_inserter(all));
  }
  return all;
}

trial_gate::answers trial_gate::give_up() {
  answers all;
  for (auto& [trial, waiting] : held_) {
    all.push_back(std::move(waiting));
  }
  for (auto& [trial, waiting] : copied_) {
    all.push_back(std::move(waiting.answer));
  }
  *this = trial_gate({});
  return all;
}

trial_gate::answers trial_gate::decide_after(search_event event) {
  unrecorded_.push_back(decide(*setup_.rule, std::move(event)));
  return record();
}

bool trial_gate::can_record(const search_record& r) try {
  why_unrecorded_ = {};
  if (setup_.hooks.record) {
    setup_.hooks.record(r);
  }
  return true;
} catch (...) {
  auto why = to_fault(std::current_exception());
  if (why.code != fault_code::io) {
    throw;
  }
  why_unrecorded_ = std::move(why);
  return false;
}

trial_gate::answers trial_gate::carried_out(std::span<const trial_decision> decisions) {
  answers all;
  for (const auto& d : decisions) {
    if (d.copy && expect(*d.copy)) {
      check(*d.copy, decisions);
      if (gone_.contains(d.copy->of)) {
        begin({*d.copy});
      }
    }
  }
  for (const auto& d : decisions) {
    if (d.verdict == trial_verdict::wait) {
      continue;
    }
    if (auto waiting = held_.extract(d.trial)) {
      waiting.mapped().stop = d.verdict == trial_verdict::stop;
      if (waiting.mapped().stop) {
        setup_.stopped.emplace(d.trial, d.steps);
      }
      answer(std::move(waiting.mapped()), all);
    }
  }
  return all;
}

void trial_gate::answer(trial_answer what, answers& now) {
  const auto found = copies_.find({what.trial, what.steps});
  if (found == copies_.end() || found->second.empty()) {
    now.push_back(std::move(what));
    return;
  }
  const auto copies = found->second;  // as each begins, it is one less
  auto& waiting = copied_[what.trial];
  waiting.answer = std::move(what);
  for (const auto& c : copies) {
    waiting.to_begin.insert(c.trial);
  }
  begin(copies);
}

void trial_gate::begin(const std::vector<trial_copy>& copies) const {
  for (const auto& c : copies) {
    setup_.hooks.copy(c);
  }
}

/// The other trial must wait at its state, to go on from there.
void trial_gate::check(const trial_copy& c, std::span<const trial_decision> decisions) const {
  const bool goes_on = std::ranges::any_of(decisions, [&c](const trial_decision& d) {
    return d.trial == c.of && d.steps == c.steps && d.verdict == trial_verdict::go_on;
  });
  if (!setup_.hooks.copy || !setup_.rule->copies() || !goes_on) {
    throw fault_error(fault_code::bad_input,
                      "the rule of the search copies " + c.of + " after " + std::to_string(c.steps) + " steps, but " +
                          (goes_on ? "has not said that it copies" : "does not decide at once that it goes on there"));
  }
}

/// False if it is known already.
bool trial_gate::expect(const trial_copy& c) {
  const bool is_new = setup_.trials.insert(c.trial).second;
  if (is_new) {
    copies_[{c.of, c.steps}].push_back(c);
  }
  return is_new;
}

}  // namespace hydra
