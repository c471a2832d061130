#include "actors/selection/hyperband.hpp"

#include "actors/selection/rungs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hydra {

namespace {

/// How many trials the paper gives to each bracket: about as many steps to each.
std::vector<double> paper_sizes(std::size_t rungs, std::uint32_t factor) {
  std::vector<double> sizes;
  for (std::size_t b = 0; b < rungs; ++b) {
    const std::size_t s = rungs - 1 - b;
    sizes.push_back(std::ceil(static_cast<double>(rungs) / static_cast<double>(s + 1) * std::pow(factor, s)));
  }
  return sizes;
}

}  // namespace

std::vector<std::size_t> deal_to_brackets(std::size_t trials, std::size_t rungs, std::uint32_t factor) {
  const std::vector<double> sizes = paper_sizes(rungs, factor);
  const double whole = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  std::vector<double> dealt(rungs);
  std::vector<std::size_t> brackets;
  for (std::size_t i = 0; i < trials; ++i) {  // to the bracket that is furthest behind its share
    std::vector<double> behind;
    for (std::size_t b = 0; b < rungs; ++b) behind.push_back(sizes[b] * static_cast<double>(i + 1) - dealt[b] * whole);
    const auto next = static_cast<std::size_t>(std::ranges::max_element(behind) - behind.begin());
    ++dealt[next];
    brackets.push_back(next);
  }
  return brackets;
}

hyperband::hyperband(const std::vector<std::string>& trials, const std::vector<std::uint32_t>& rungs,
                     std::uint32_t factor)
    : trials_{trials}, brackets_of_{deal_to_brackets(trials.size(), rungs.size(), factor)} {
  for (std::size_t b = 0; b < rungs.size(); ++b) {
    std::vector<std::string> mine;
    for (std::size_t i = 0; i < trials.size(); ++i)
      if (brackets_of_[i] == b) mine.push_back(trials[i]);
    brackets_.emplace_back(std::move(mine), std::vector(rungs.begin() + static_cast<std::ptrdiff_t>(b), rungs.end()),
                           factor);
  }
}

std::size_t hyperband::bracket_of(const std::string& trial) const {
  return brackets_of_[place_of_trial(trials_, trial)];
}

std::string hyperband::describe() const {
  std::string text =
      "hyperband: " + std::to_string(trials_.size()) + " trials in " + std::to_string(brackets_.size()) + " brackets";
  for (const halving& bracket : brackets_)
    text += "; " + std::to_string(bracket.trials().size()) + ": " + bracket.rule();
  return text;
}

std::vector<trial_decision> hyperband::result(const trial_result& arrived) {
  return brackets_[bracket_of(arrived.trial)].result(arrived);
}

std::vector<trial_decision> hyperband::ended(const std::string& trial) {
  return brackets_[bracket_of(trial)].ended(trial);
}

}  // namespace hydra
