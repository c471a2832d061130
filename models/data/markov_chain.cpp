#include "models/data/markov_chain.hpp"

#include "models/random.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace hydra {
namespace {

constexpr double uniform_part = 0.05;
constexpr std::array branch_weights{0.7, 0.2, 0.1};

void check(std::int64_t symbols, std::int64_t order) {
  const bool sane = symbols >= 2 && symbols <= std::int64_t{1} << 20 && order >= 1 && order <= 8;
  if (!sane || std::pow(static_cast<double>(symbols), static_cast<double>(order)) > 0x1p40)
    refuse(
        fmt::format("synthetic-language with {} symbols of order {}; allowed are 2 to 2^20 symbols, order 1 to 8, and "
                    "symbols^order up to 2^40",
                    symbols, order));
}

std::size_t draw_branch(double u) noexcept {
  std::size_t branch = 0;
  for (double mass = branch_weights[0]; u >= mass && branch + 1 < branch_weights.size(); mass += branch_weights[branch])
    ++branch;
  return branch;
}

}  // namespace

markov_chain::markov_chain(std::int64_t symbols, std::int64_t order, std::uint64_t seed)
    : symbols_(static_cast<std::uint64_t>(symbols)), seed_(seed) {
  check(symbols, order);
  powers_.push_back(symbols_);
  for (std::int64_t i = 1; i < order; ++i) powers_.push_back(powers_.back() * symbols_);
}

std::uint64_t markov_chain::successor(std::uint64_t state, std::uint64_t suffix, std::uint64_t branch) const noexcept {
  return random_bits(random_key({seed_, suffix, state % powers_[suffix]}), branch) % symbols_;
}

std::uint64_t markov_chain::moved(std::uint64_t state, std::uint64_t symbol) const noexcept {
  return (state * symbols_ + symbol) % powers_.back();
}

/// Draws with three keyed numbers: whether uniform, which suffix, which of its branches.
std::uint64_t markov_chain::next(std::uint64_t state, std::uint64_t key) const noexcept {
  if (random_uniform(key, 0) < uniform_part) return random_bits(key, 1) % symbols_;
  return successor(state, random_bits(key, 1) % powers_.size(), draw_branch(random_uniform(key, 2)));
}

std::vector<std::uint32_t> markov_chain::generate(std::size_t count, std::uint64_t stream) const {
  std::vector<std::uint32_t> result(count);
  std::uint64_t state = random_bits(random_key({seed_, stream}), 0) % powers_.back();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t symbol = next(state, random_key({seed_, stream, i}));
    result[i] = static_cast<std::uint32_t>(symbol);
    state = moved(state, symbol);
  }
  return result;
}

std::vector<double> markov_chain::distribution(std::uint64_t state) const {
  std::vector<double> result(symbols_, uniform_part / static_cast<double>(symbols_));
  const double vote = (1 - uniform_part) / static_cast<double>(powers_.size());
  for (std::size_t suffix = 0; suffix < powers_.size(); ++suffix)
    for (std::size_t branch = 0; branch < branch_weights.size(); ++branch)
      result[successor(state, suffix, branch)] += vote * branch_weights[branch];
  return result;
}

}  // namespace hydra
