#include "actors/selection/pbt.hpp"

#include "actors/selection/rungs.hpp"
#include "runtime/base/refuse.hpp"

#include <algorithm>

namespace hydra {

namespace {

constexpr std::string_view copy_mark = ".pbt";

const std::string* value_of(const search_trial& trial, const std::string& key) {
  const auto found = std::ranges::find(trial.keys, key, &key_value::key);
  return found == trial.keys.end() ? nullptr : &found->value;
}

}  // namespace

pbt::pbt(search_settings settings) : settings_{std::move(settings)}, at_{settings_.every} {
  if (settings_.every == 0) refuse("pbt: every: must be at least 1, got 0");
  for (const search_trial& trial : settings_.trials) {
    population_.push_back(all_.size());
    all_.push_back({trial, all_.size()});
  }
}

std::string pbt::describe() const {
  return "pbt: " + std::to_string(settings_.trials.size()) + " trials; every " + std::to_string(settings_.every) +
         " of " + std::to_string(settings_.steps) + " steps the worst quarter begins again from the best";
}

std::uint32_t pbt::compares_after(const std::string&, std::uint32_t steps) const {
  const std::uint32_t next = (steps / settings_.every + 1) * settings_.every;
  return next < settings_.steps ? next : 0;
}

std::vector<trial_decision> pbt::result(const trial_result& arrived) {
  const std::size_t trial = place(arrived.trial);
  const trial_decision goes_on{arrived.trial, arrived.steps, trial_verdict::go_on};
  if (arrived.steps % settings_.every != 0 || arrived.steps >= settings_.steps) return {goes_on};
  const trial_at at{trial, arrived.steps};
  if (const auto before = decided_.find(at); before != decided_.end()) return {before->second};
  if (all_[trial].ended) return {{arrived.trial, arrived.steps, trial_verdict::stop}};
  if (arrived.steps < at_) return {goes_on};  // a copy where it begins
  if (all_[trial].stopped) return {{arrived.trial, arrived.steps, trial_verdict::stop}};
  scores_.emplace(at, arrived.score);
  return with_own_first(decide(), arrived);
}

std::vector<trial_decision> pbt::ended(const std::string& trial) {
  all_[place(trial)].ended = true;
  return decide();
}

std::size_t pbt::place(const std::string& trial) const {
  const auto found = std::ranges::find(all_, trial, [](const member& m) { return m.is.name; });
  if (found == all_.end()) refuse("the search has no trial \"" + trial + "\"");
  return static_cast<std::size_t>(found - all_.begin());
}

bool pbt::is_complete() const {
  return std::ranges::all_of(population_, [this](std::size_t trial) {
    return all_[trial].ended || scores_.contains({trial, at_});
  });
}

std::vector<trial_decision> pbt::decide() {
  std::vector<trial_decision> made;
  for (; !population_.empty() && at_ < settings_.steps && is_complete(); at_ += settings_.every) compare(made);
  return made;
}

/// A result counts even if its trial ended later while it waited, but there may be nothing to copy of that one.
void pbt::compare(std::vector<trial_decision>& made) {
  const std::vector<ranked_score> ranked = best_first(population_, at_, scores_);
  const std::size_t quarter = ranked.size() / 4;
  std::vector<std::size_t> best;
  for (std::size_t i = 0; i < quarter; ++i) best.push_back(ranked[i].trial);
  population_.clear();
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const std::size_t trial = ranked[i].trial;
    trial_decision d{all_[trial].is.name, at_, trial_verdict::go_on, static_cast<std::uint32_t>(i + 1),
                     static_cast<std::uint32_t>(ranked.size())};
    if (i + quarter < ranked.size()) {
      population_.push_back(trial);
    } else {
      d.verdict = trial_verdict::stop;
      d.copy = copy_for(trial, best);
    }
    decided_.emplace(trial_at{trial, at_}, d);
    made.push_back(std::move(d));
  }
  std::ranges::sort(population_);
}

trial_copy pbt::copy_for(std::size_t trial, const std::vector<std::size_t>& best) {
  member& replaced = all_[trial];
  replaced.stopped = true;
  portable_random random{seed_for(settings_.seed, replaced.is.name, at_)};
  const auto chosen =
      std::min(static_cast<std::size_t>(random.share() * static_cast<double>(best.size())), best.size() - 1);
  const search_trial& source = all_[best[chosen]].is;
  trial_copy copy{new_name(replaced.slot), source.name, at_, {}};
  for (const searched_key& key : settings_.space) {
    const std::string* const value = value_of(source, key.key);
    copy.keys.push_back({key.key, value ? explore(key, *value, random) : draw(key, random)});
  }
  population_.push_back(all_.size());
  all_.push_back({{copy.trial, copy.keys}, replaced.slot});
  return copy;
}

/// "gpt-07.pbt2" is the second trial in the place of gpt-07.
std::string pbt::new_name(std::size_t slot) const {
  for (std::size_t n = 2;; ++n) {
    std::string name = all_[slot].is.name + std::string{copy_mark} + std::to_string(n);
    if (std::ranges::count(all_, name, [](const member& m) { return m.is.name; }) == 0) return name;
  }
}

bool names_a_copy(const search_settings& settings, std::string_view name) {
  const auto mark = name.rfind(copy_mark);
  if (settings.kind != search_kind::pbt || mark == std::string_view::npos) return false;
  const std::string_view number = name.substr(mark + copy_mark.size());
  return number.find_first_not_of("0123456789") == std::string_view::npos &&
         std::ranges::count(settings.trials, name.substr(0, mark), &search_trial::name) > 0;
}

}  // namespace hydra
