#include "actors/selection/search_ranking.hpp"

#include "actors/selection/rungs.hpp"
#include "actors/selection/search_rules.hpp"

#include <algorithm>
#include <limits>

namespace hydra {

namespace {

std::string ordinal(std::uint32_t n) {
  const bool teen = n % 100 / 10 == 1;
  const char* const end = teen ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
  return std::to_string(n) + end;
}

/// After how many steps trials are compared, and the end; empty: they are not.
std::vector<std::uint32_t> comparisons(const search_settings& s) {
  if (s.first > 0) return rung_steps(s.first, s.factor, s.steps);
  std::vector<std::uint32_t> all;
  for (std::uint64_t at = s.every; s.every > 0 && at < s.steps; at += s.every)
    all.push_back(static_cast<std::uint32_t>(at));
  if (s.every > 0) all.push_back(s.steps);
  return all;
}

class ranking {
 public:
  explicit ranking(const search_settings& s)
      : as_results_arrive_{decides_as_results_arrive(s.kind)},
        by_steps_{has_rule(s.kind)},
        numbered_{s.first > 0},
        steps_{s.steps},
        rungs_{comparisons(s)} {
    for (const search_trial& trial : s.trials) trials_.push_back({trial});
  }

  void add(const search_record& record) {
    if (const auto* const result = std::get_if<trial_result>(&record.event)) {
      add(*result);
    } else if (ranked_trial* const t = find(std::get<trial_ended>(record.event).trial)) {
      if (t->verdict == trial_verdict::wait) decide(*t, trial_verdict::go_on, "");
    }
    for (const trial_decision& d : record.decisions) {
      add(d, record);
      if (d.copy && !find(d.copy->trial)) trials_.push_back({{d.copy->trial, d.copy->keys}, d.copy->of, d.copy->steps});
    }
  }

  std::vector<ranked_trial> best_first() && {
    std::ranges::stable_sort(trials_, [this](const ranked_trial& a, const ranked_trial& b) {
      return by_steps_ && a.steps != b.steps ? a.steps > b.steps : is_better({score(a), 0}, {score(b), 0});
    });
    return std::move(trials_);
  }

 private:
  static double score(const ranked_trial& t) { return t.score.value_or(std::numeric_limits<double>::quiet_NaN()); }

  /// Null for a trial that the search does not have.
  ranked_trial* find(const std::string& name) {
    const auto found = std::ranges::find(trials_, name, [](const ranked_trial& t) { return t.is.name; });
    return found == trials_.end() ? nullptr : &*found;
  }

  static void decide(ranked_trial& t, trial_verdict verdict, std::string reason) {
    t.verdict = verdict;
    t.reason = std::move(reason);
  }

  void add(const trial_result& r) {
    ranked_trial* const t = find(r.trial);
    const bool compared = rungs_.empty() || std::ranges::count(rungs_, r.steps) > 0;
    if (!t || !compared || r.steps < t->steps) return;
    t->steps = r.steps;
    t->score = r.score;
  }

  /// A stop is final: what is decided about the trial later repeats it.
  void add(const trial_decision& d, const search_record& record) {
    ranked_trial* const t = find(d.trial);
    const bool at_end = steps_ > 0 && d.steps >= steps_;
    if (!t || t->verdict == trial_verdict::stop || (d.verdict == trial_verdict::stop && at_end)) return;
    switch (d.verdict) {
      case trial_verdict::wait:
        return decide(*t, d.verdict, "waits " + place(d.steps));
      case trial_verdict::go_on:
        return decide(*t, d.verdict, "");
      case trial_verdict::stop:
        return decide(*t, d.verdict, "stopped " + place(d.steps) + comparison(d, record) + successor(d));
    }
  }

  std::string place(std::uint32_t steps) const {
    const auto rung = rung_at(rungs_, steps);
    return rung && numbered_ ? "at rung " + std::to_string(*rung + 1) : "after " + std::to_string(steps) + " steps";
  }

  std::string comparison(const trial_decision& d, const search_record& record) const {
    if (d.rank == 0) return "";
    if (as_results_arrive_) return ": " + ordinal(d.rank) + " of the first " + std::to_string(d.ranked);
    const auto continues = std::ranges::count_if(record.decisions, [&d](const trial_decision& other) {
      return other.steps == d.steps && other.verdict == trial_verdict::go_on;
    });
    return ": " + ordinal(d.rank) + " of " + std::to_string(d.ranked) + ", " + std::to_string(continues) +
           (continues == 1 ? " continues" : " continue");
  }

  static std::string successor(const trial_decision& d) {
    return d.copy ? "; " + d.copy->trial + ", from " + d.copy->of + ", took its place" : "";
  }

  bool as_results_arrive_;
  bool by_steps_;                     ///< trials are ranked, then by their scores
  bool numbered_;                     ///< its rungs
  std::uint32_t steps_;               ///< of a trial that is not stopped
  std::vector<std::uint32_t> rungs_;  ///< and the end; empty: there are none
  std::vector<ranked_trial> trials_;
};

}  // namespace

const ranked_trial* find_trial(const search_ranking& s, const std::string& model) {
  const auto found = std::ranges::find(s.trials, model, [](const ranked_trial& t) { return t.is.name; });
  return found == s.trials.end() ? nullptr : &*found;
}

search_ranking rank_trials(const search_settings& settings, std::span<const search_record> records) {
  const auto rule = settings.kind == search_kind::own && !settings.make ? nullptr : make_search_rule(settings);
  ranking r{settings};
  for (const search_record& record : records) r.add(record);
  return {rule ? rule->describe() : name_of(settings) + ": " + std::to_string(settings.trials.size()) + " trials",
          settings.metric, settings.steps, settings.trials.size(), std::move(r).best_first()};
}

}  // namespace hydra
