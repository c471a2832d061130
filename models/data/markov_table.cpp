#include "models/data/markov_table.hpp"

#include "runtime/base/fault.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

namespace hydra {
namespace {

using table = std::vector<double>;

constexpr std::uint64_t most_entries = std::uint64_t{1} << 20;

/// P(next | state) for all states. With state * symbols + next as index, the index modulo the number of states is the
/// state that follows.
table transitions_of(const markov_chain& language) {
  table all;
  all.reserve(language.states() * language.symbols());
  for (std::uint64_t s = 0; s < language.states(); ++s) {
    const table row = language.distribution(s);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

/// Sums entries whose indices are equal modulo `size`: the marginal without the oldest symbol.
table folded(const table& joint, std::uint64_t size) {
  table result(size);
  for (std::size_t i = 0; i < joint.size(); ++i) result[i % size] += joint[i];
  return result;
}

/// P(state, next) when the states have these masses.
table joint_of(const table& mass, const table& transitions) {
  const std::size_t symbols = transitions.size() / mass.size();
  table joint(transitions.size());
  for (std::size_t i = 0; i < joint.size(); ++i) joint[i] = mass[i / symbols] * transitions[i];
  return joint;
}

/// Stationary P(state, next), by power iteration; the uniform part makes the chain ergodic.
table stationary_joint(const table& transitions, std::uint64_t states) {
  table mass(states, 1 / static_cast<double>(states)), joint;
  double change = 1;
  for (int i = 0; i < 10000 && change > 1e-12; ++i) {
    joint = joint_of(mass, transitions);
    const table after = folded(joint, states);
    change = std::transform_reduce(after.begin(), after.end(), mass.begin(), 0.0, std::plus<>{},
                                   [](double a, double b) { return std::abs(a - b); });
    mass = after;
  }
  return joint;
}

}  // namespace

bool markov_table::exists_for(const markov_chain& language) noexcept {
  return language.states() * language.symbols() <= most_entries;
}

markov_table::markov_table(const markov_chain& language) : symbols_(language.symbols()) {
  if (!exists_for(language)) throw fault_error{fault_code::internal, "the table of a language is too large"};
  table joint = stationary_joint(transitions_of(language), language.states());
  for (std::uint64_t states = language.states(); states > 1; states /= symbols_) {
    table shorter = folded(joint, states);
    append(std::move(joint));
    joint = std::move(shorter);
  }
  std::ranges::reverse(conditional_);
  std::ranges::reverse(entropies_);
}

void markov_table::append(table joint) {
  double sum = 0;
  for (auto row = joint.begin(); row != joint.end(); row += static_cast<std::ptrdiff_t>(symbols_)) {
    const std::span<double> next{row, symbols_};
    const double mass = std::accumulate(next.begin(), next.end(), 0.0);
    for (double& p : next) sum -= p * std::log(p / mass), p /= mass;
  }
  conditional_.push_back(std::move(joint));
  entropies_.push_back(sum);
}

double markov_table::entropy(std::size_t seen) const { return entropies_.at(std::min(seen, order()) - 1); }

double markov_table::probability(std::uint64_t last, std::size_t seen, std::uint64_t next) const {
  return conditional_.at(seen - 1).at(last * symbols_ + next);
}

}  // namespace hydra
