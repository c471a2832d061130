#pragma once
// A search in a run: trials that have been evaluated wait here until its rule has decided about them, that is recorded,
// and copies of them have begun. Pure, but for the hooks.

#include "actors/run/search_setup.hpp"
#include "actors/selection/search_record.hpp"
#include "actors/selection/search_rule.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// What follows for a trial that has waited.
struct trial_answer {
  std::string trial{};
  model_id model{};
  std::uint32_t steps = 0;
  bool stop = false;
};

/// The rule and the hooks may throw: then the search is over.
class trial_gate {
 public:
  explicit trial_gate(search_setup setup);

  search_metric metric() const { return setup_.metric; }
  bool searches() const { return setup_.rule != nullptr; }
  bool has(const std::string& model) const {
    return setup_.rule && (setup_.trials.contains(model) || setup_.rule->has(model));
  }
  std::uint32_t compares_after(const std::string& trial, std::uint32_t steps) const {
    return setup_.rule->compares_after(trial, steps);
  }
  /// The trial waits.
  bool holds(const std::string& trial) const { return held_.contains(trial) || copied_.contains(trial); }

  // What happens; returned are the trials that have waited, and go on or stop now.
  using answers = std::vector<trial_answer>;
  /// A trial has been evaluated, perhaps again after a pause or a resume.
  answers evaluated(const trial_result& result, model_id model);
  /// A copy has joined, or cannot: nobody waits for it any more.
  answers begun(const std::string& copy, bool joined);
  /// A trial has ended, and the rule may not know why. Once: a trial that a callback stops is told of before it is
  /// saved, too.
  answers ended(const std::string& trial);
  /// What the rule did not decide at once; whoever decides has recorded it. The first decision counts, also for a trial
  /// that does not wait there yet, or comes back there: it would never go on if it had to wait once more, and had to
  /// give its memory back for that.
  answers decided(const trial_decision& decision);
  /// Decisions that could not be recorded may be now. The others stay, with those behind them, and their trials wait.
  answers record();
  /// All that wait go on, and nothing is decided any more.
  answers give_up();

  /// Why decisions could not be recorded the last time, if some are not.
  const fault& unrecorded() const { return why_unrecorded_; }

 private:
  answers decide_after(search_event event);
  bool can_record(const search_record& r);
  answers carried_out(std::span<const trial_decision> decisions);
  /// The trial keeps its state until copies of it have begun: a run that is resumed before that asks again.
  void answer(trial_answer what, answers& now);
  void begin(const std::vector<trial_copy>& copies) const;
  void check(const trial_copy& c, std::span<const trial_decision> decisions) const;
  bool expect(const trial_copy& c);

  search_setup setup_;
  std::map<std::pair<std::string, std::uint32_t>, std::vector<trial_copy>> copies_;  ///< by whose state they begin with
  std::set<std::string> gone_;                                                       ///< trials that have ended
  std::map<std::string, trial_answer> held_;
  std::map<std::pair<std::string, std::uint32_t>, trial_decision> decided_;  ///< later than the rule was asked
  struct copied_trial {
    trial_answer answer;
    std::set<std::string> to_begin;
  };
  std::map<std::string, copied_trial> copied_;  ///< trials that wait until copies of them have begun
  std::deque<search_record> unrecorded_;        ///< the rule has decided, nothing is carried out yet
  fault why_unrecorded_;
};

}  // namespace hydra
