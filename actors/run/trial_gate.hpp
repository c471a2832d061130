#pragma once
// A search in a run: trials that have been evaluated wait here until its rule has decided about them. Pure.

#include "actors/protocol/events.hpp"
#include "actors/selection/search_hooks.hpp"
#include "actors/selection/search_record.hpp"
#include "actors/selection/search_rule.hpp"
#include "actors/selection/search_settings.hpp"
#include "actors/selection/trial_score.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

struct search_setup {
  std::shared_ptr<search_rule> rule;  ///< null: no search
  search_metric metric = search_metric::validation;
  std::set<std::string> trials{};
  std::map<std::string, std::uint32_t> stopped{};  ///< trials that were decided to stop, and after how many steps
  std::vector<trial_copy> copies{};  ///< that it has decided to begin
  search_hooks hooks{};
};

/// What follows for a trial that has waited; without a name if nobody waits for the copies.
struct trial_answer {
  std::string trial{};
  model_id model{};
  std::uint32_t steps = 0;
  bool stop = false;
  std::vector<trial_copy> copies{};  ///< of it, which begin before it goes on
};

class trial_gate {
 public:
  explicit trial_gate(search_setup setup) : setup_(std::move(setup)) {
    for (const auto& c : setup_.copies) {
      expect(c);
    }
  }

  const search_hooks& hooks() const { return setup_.hooks; }
  bool searches() const { return setup_.rule != nullptr; }
  bool has(const std::string& model) const { return setup_.rule && setup_.trials.contains(model); }
  /// The trial has no answer yet.
  bool holds(const std::string& trial) const { return held_.contains(trial); }

  /// A trial has been evaluated, perhaps again after a pause or a resume.
  std::vector<trial_answer> evaluated(const evaluation_completed& e) {
    held_[e.name] = {.trial = e.name, .model = e.model, .steps = e.done};
    return decided(trial_result{e.name, e.done, score_of(setup_.metric, e.loss, e.accuracy)});
  }
  /// A copy has joined, or cannot: nobody waits for it any more.
  void begun(const std::string& copy) {
    for (auto& [of, copies] : copies_) {
      std::erase_if(copies, [&copy](const trial_copy& c) { return c.trial == copy; });
    }
  }
  /// A trial has ended, and the rule may not know why. Once: a trial that a callback stops is told of before it is
  /// saved, too.
  std::vector<trial_answer> ended(const std::string& trial) {
    held_.erase(trial);
    if (!gone_.insert(trial).second) {
      return {};
    }
    auto all = setup_.stopped.contains(trial) ? std::vector<trial_answer>{} : decided(trial_ended{trial});
    for (const auto& [of, copies] : copies_) {
      if (of.first == trial && !copies.empty()) {
        all.push_back({.copies = copies});
      }
    }
    return all;
  }

  /// What follows from decisions that can be recorded now, in their order; the others stay, and their trials are held.
  std::vector<trial_answer> record() {
    std::vector<trial_answer> all;
    for (; !unrecorded_.empty() && can_record(unrecorded_.front()); unrecorded_.pop_front()) {
      std::ranges::move(carried_out(unrecorded_.front()), std::back_inserter(all));
    }
    return all;
  }
  /// Why decisions could not be recorded the last time, if some are not.
  const fault& unrecorded() const { return why_unrecorded_; }

 private:
  std::vector<trial_answer> decided(search_event event) {
    unrecorded_.push_back(decide(*setup_.rule, std::move(event)));
    return record();
  }

  bool can_record(const search_record& r) try {
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

  std::vector<trial_answer> carried_out(const search_record& r) {
    std::vector<trial_answer> all;
    for (const auto& d : r.decisions) {
      if (d.copy && expect(*d.copy)) {
        check(*d.copy, r);
        if (gone_.contains(d.copy->of)) {
          all.push_back({.copies = {*d.copy}});
        }
      }
    }
    for (const auto& d : r.decisions) {
      const auto waiting = held_.find(d.trial);
      if (d.verdict == trial_verdict::wait || waiting == held_.end()) {
        continue;
      }
      waiting->second.stop = d.verdict == trial_verdict::stop;
      if (waiting->second.stop) {
        setup_.stopped.emplace(d.trial, d.steps);
      }
      if (const auto copies = copies_.find({d.trial, d.steps}); copies != copies_.end()) {
        waiting->second.copies = copies->second;
      }
      all.push_back(std::move(waiting->second));
      held_.erase(waiting);
    }
    return all;
  }

  /// The other trial must wait at its state, to go on from there.
  void check(const trial_copy& c, const search_record& r) const {
    const bool goes_on = std::ranges::any_of(r.decisions, [&c](const trial_decision& d) {
      return d.trial == c.of && d.steps == c.steps && d.verdict == trial_verdict::go_on;
    });
    if (!setup_.hooks.copy || !setup_.rule->copies() || !goes_on) {
      throw fault_error(
          fault_code::bad_input,
          "the rule of the search copies " + c.of + " after " + std::to_string(c.steps) + " steps, but " +
              (goes_on ? "has not said that it copies" : "does not decide at once that it goes on there"));
    }
  }

  /// False if it is known already.
  bool expect(const trial_copy& c) {
    const bool is_new = setup_.trials.insert(c.trial).second;
    if (is_new) {
      copies_[{c.of, c.steps}].push_back(c);
    }
    return is_new;
  }

  search_setup setup_;
  std::map<std::pair<std::string, std::uint32_t>, std::vector<trial_copy>> copies_;  ///< by whose state they begin with
  std::set<std::string> gone_;                                                       ///< trials that have ended
  std::map<std::string, trial_answer> held_;
  std::deque<search_record> unrecorded_;  ///< the rule has decided, nothing is carried out yet
  fault why_unrecorded_;
};

}  // namespace hydra
