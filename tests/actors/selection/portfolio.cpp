#include "tests/actors/selection/portfolio.hpp"

#include "actors/selection/rungs.hpp"

#include <cmath>
#include <limits>

namespace hydra {

namespace {

/// Equal scores are frequent.
double random_score(portable_random& random) {
  if (random.share() < 0.05) return std::numeric_limits<double>::quiet_NaN();
  if (random.share() < 0.02) return std::numeric_limits<double>::infinity();
  return std::floor(random.uniform(0, 20)) / 4;
}

/// One trial of a search under way.
struct runner {
  std::size_t rung = 0;  ///< it trains to this one
  bool waits = false;
  bool over = false;
  std::vector<trial_result> reported;
};

class search_in_play {
 public:
  search_in_play(search_rule& rule, const portfolio& p, std::uint64_t order)
      : rule_{rule}, p_{p}, random_{order}, runners_(p.trials.size()) {}

  played_search run() {
    for (std::vector<std::size_t> ready = able(); !ready.empty(); ready = able())
      advance(ready[random_.whole(0, static_cast<std::uint32_t>(ready.size() - 1))]);
    for (const runner& r : runners_) played_.stuck = played_.stuck || r.waits;
    played_.decisions = decisions_in(played_.records);
    return played_;
  }

 private:
  std::vector<std::size_t> able() const {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < runners_.size(); ++i)
      if (!runners_[i].waits && !runners_[i].over) ready.push_back(i);
    return ready;
  }

  void advance(std::size_t i) {
    runner& r = runners_[i];
    const std::string name = std::to_string(i);
    if (!r.reported.empty() && random_.share() < 0.2)
      tell(r.reported[random_.whole(0, static_cast<std::uint32_t>(r.reported.size() - 1))]);
    if (r.rung == p_.trials[i].fails_at) {
      r.over = true;
      return tell(trial_ended{name});
    }
    const trial_result arrived{name, p_.rungs[r.rung], p_.trials[i].scores[r.rung]};
    r.reported.push_back(arrived);
    if (r.rung + 1 == p_.rungs.size()) {
      r.over = true;
      played_.finished.insert(name);
    }
    ++r.rung;
    r.waits = !r.over;
    tell(arrived);
  }

  void tell(search_event event) {
    played_.records.push_back(decide(rule_, std::move(event)));
    for (const trial_decision& d : played_.records.back().decisions) obey(d);
  }

  /// A decision about a result that is not the trial's newest has been obeyed before.
  void obey(const trial_decision& d) {
    runner& r = runners_[std::stoul(d.trial)];
    if (r.over || !r.waits || r.reported.back().steps != d.steps || d.verdict == trial_verdict::wait) return;
    r.waits = false;
    r.over = d.verdict == trial_verdict::stop;
  }

  search_rule& rule_;
  const portfolio& p_;
  portable_random random_;
  std::vector<runner> runners_;
  played_search played_;
};

}  // namespace

std::vector<std::string> portfolio::names() const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < trials.size(); ++i) all.push_back(std::to_string(i));
  return all;
}

portfolio random_portfolio(std::uint64_t seed) {
  portable_random random{seed};
  portfolio p;
  p.factor = random.whole(2, 5);
  const std::uint32_t first = random.whole(1, 9);
  p.rungs = rung_steps(first, p.factor, first * random.whole(1, 60) + random.whole(0, 3));
  for (std::uint32_t n = random.whole(1, 40); n > 0; --n) {
    scripted_trial t;
    for (std::size_t rung = 0; rung < p.rungs.size(); ++rung) t.scores.push_back(random_score(random));
    const auto rungs = static_cast<std::uint32_t>(p.rungs.size());
    t.fails_at = random.share() < 0.2 ? random.whole(0, rungs - 1) : rungs;
    p.trials.push_back(std::move(t));
  }
  return p;
}

played_search play(search_rule& rule, const portfolio& p, std::uint64_t order) {
  return search_in_play{rule, p, order}.run();
}

decided decisions_in(const std::vector<search_record>& records) {
  decided all;
  for (const search_record& r : records)
    for (const trial_decision& d : r.decisions) {
      if (d.verdict == trial_verdict::wait || d.rank == 0) continue;
      const char* const verdict = d.verdict == trial_verdict::stop ? "stop" : "go on";
      all.insert(d.trial + "@" + std::to_string(d.steps) + " " + verdict + " " + std::to_string(d.rank) + "/" +
                 std::to_string(d.ranked));
    }
  return all;
}

}  // namespace hydra
