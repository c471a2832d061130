#include "actors/selection/pbt.hpp"

#include "actors/selection/rungs.hpp"
#include "runtime/base/refuse.hpp"

#include <algorithm>

namespace hydra {

namespace {

constexpr std::size_t quarter = 4;

const std::string* value_of(const search_trial& trial, const std::string& key) {
  const auto found = std::ranges::find(trial.keys, key, &key_value::key);
  return found == trial.keys.end() ? nullptr : &found->value;
}

}  // namespace

pbt::pbt(search_settings settings) : settings_{std::move(settings)} {
  if (settings_.every == 0) refuse("pbt: every: must be at least 1, got 0");
  for (const search_trial& trial : settings_.trials) population_.push_back({trial, population_.size()});
}

std::string pbt::describe() const {
  return "pbt: " + std::to_string(settings_.trials.size()) + " trials; every " + std::to_string(settings_.every) +
         " of " + std::to_string(settings_.steps) + " steps the worst quarter begins again from the best";
}

std::uint32_t pbt::next_rung(const std::string&, std::uint32_t steps) const {
  const std::uint64_t next = (std::uint64_t{steps} / settings_.every + 1) * settings_.every;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(next, settings_.steps));
}

std::vector<trial_decision> pbt::result(const trial_result& arrived) {
  const std::size_t trial = place(arrived.trial);
  trial_decision decision{arrived.trial, arrived.steps, trial_verdict::go_on};
  if (arrived.steps % settings_.every != 0 || arrived.steps >= settings_.steps) return {decision};
  auto& there = arrivals_[arrived.steps];
  if (const auto before = std::ranges::find(there, trial, &arrival::trial); before != there.end())
    return {before->decision};
  if (population_[trial].out) return {{arrived.trial, arrived.steps, trial_verdict::stop}};
  population_[trial].newest = std::max(population_[trial].newest, arrived.steps);
  const arrival added{arrived.score, trial, {}};
  const auto better = [](const arrival& a, const arrival& b) {
    return is_better({a.score, a.trial}, {b.score, b.trial});
  };
  const auto at = there.insert(std::ranges::upper_bound(there, added, better), added);
  const auto rank = static_cast<std::size_t>(at - there.begin());
  decision.rank = static_cast<std::uint32_t>(rank + 1);
  decision.ranked = static_cast<std::uint32_t>(there.size());
  const std::vector<std::size_t> from = sources(there);
  if (rank >= there.size() - there.size() / quarter && !from.empty()) {
    decision.verdict = trial_verdict::stop;
    decision.copy = copy_for(trial, arrived.steps, from);
  }
  at->decision = decision;
  return {decision};
}

std::vector<trial_decision> pbt::ended(const std::string& trial) {
  population_[place(trial)].out = true;
  return {};
}

std::size_t pbt::place(const std::string& trial) const {
  const auto found = std::ranges::find(population_, trial, [](const member& m) { return m.is.name; });
  if (found == population_.end()) refuse("the search has no trial \"" + trial + "\"");
  return static_cast<std::size_t>(found - population_.begin());
}

std::vector<std::size_t> pbt::sources(const std::vector<arrival>& best_first) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < best_first.size() / quarter; ++i)
    if (!population_[best_first[i].trial].out) found.push_back(best_first[i].trial);
  return found;
}

trial_copy pbt::copy_for(std::size_t trial, std::uint32_t steps, const std::vector<std::size_t>& sources) {
  member& replaced = population_[trial];
  replaced.out = true;
  portable_random random{seed_for(settings_.seed, replaced.is.name, steps)};
  const auto chosen =
      std::min(static_cast<std::size_t>(random.share() * static_cast<double>(sources.size())), sources.size() - 1);
  const member& source = population_[sources[chosen]];
  trial_copy copy{new_name(replaced.slot), source.is.name, source.newest, {}};
  for (const searched_key& key : settings_.space) {
    const std::string* const value = value_of(source.is, key.key);
    copy.keys.push_back({key.key, value ? explore(key, *value, random) : draw(key, random)});
  }
  population_.push_back({{copy.trial, copy.keys}, replaced.slot, source.newest});
  return copy;
}

/// "gpt-07.2" is the second trial in the place of gpt-07.
std::string pbt::new_name(std::size_t slot) const {
  for (std::size_t n = 2;; ++n) {
    std::string name = population_[slot].is.name + "." + std::to_string(n);
    if (std::ranges::count(population_, name, [](const member& m) { return m.is.name; }) == 0) return name;
  }
}

}  // namespace hydra
