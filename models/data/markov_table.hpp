#pragma once
// The exact conditional distribution of a Markov chain's next symbol given the last few, from its stationary
// distribution.

#include "models/data/markov_chain.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hydra {

/// P(next symbol | the last h symbols) for h = 1..order. A language model that sees fewer symbols than the order cannot
/// do better than this, on average over a long text.
class markov_table {
 public:
  /// Whether the table is small enough: at most 2^20 probabilities.
  static bool exists_for(const markov_chain& language) noexcept;
  /// Throws fault_error{internal} where it is not.
  explicit markov_table(const markov_chain& language);

  std::uint64_t symbols() const noexcept { return symbols_; }
  std::size_t order() const noexcept { return conditional_.size(); }

  /// Entropy in nats of the next symbol given the last `seen` symbols, at least 1; symbols beyond the order do not
  /// help.
  double entropy(std::size_t seen) const;

  /// P(next | last `seen` symbols), 1 <= seen <= order. The newest symbol is the lowest digit of `last`, in base
  /// symbols().
  double probability(std::uint64_t last, std::size_t seen, std::uint64_t next) const;

 private:
  /// Turns P(last h symbols, next) into P(next | last h symbols); appends it and its entropy.
  void append(std::vector<double> joint);

  std::uint64_t symbols_;
  std::vector<std::vector<double>> conditional_;  ///< by h - 1: rows of `symbols` probabilities
  std::vector<double> entropies_;                 ///< by h - 1
};

}  // namespace hydra
