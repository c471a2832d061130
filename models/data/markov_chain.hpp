#pragma once
// A random language with known entropy (markov_table): the next symbol depends on the last few.

#include <cstdint>
#include <vector>

namespace hydra {

/// Markov chain of order k. Each suffix of 1..k symbols contributes, with equal weight, a few successors drawn by the
/// seed, and a small part of the probability is uniform: so every state is reached, short suffixes already predict
/// something (the loss falls at once), and the rest can be learnt only from k symbols of context. Nothing is stored:
/// distributions derive from the seed.
class markov_chain {
 public:
  /// Throws fault_error{bad_input} unless symbols is in 2..2^20, order in 1..8 and symbols^order at most 2^40.
  markov_chain(std::int64_t symbols, std::int64_t order, std::uint64_t seed);

  /// `count` symbols; a function of the chain and `stream` (different streams are different texts of the same
  /// language).
  std::vector<std::uint32_t> generate(std::size_t count, std::uint64_t stream) const;

  /// P(next | state) for all symbols; the newest symbol is the lowest digit of the state, in base `symbols`.
  std::vector<double> distribution(std::uint64_t state) const;

  std::uint64_t symbols() const noexcept { return symbols_; }
  std::uint64_t states() const noexcept { return powers_.back(); }

 private:
  std::uint64_t successor(std::uint64_t state, std::uint64_t suffix, std::uint64_t branch) const noexcept;
  std::uint64_t next(std::uint64_t state, std::uint64_t key) const noexcept;
  std::uint64_t moved(std::uint64_t state, std::uint64_t symbol) const noexcept;

  std::uint64_t symbols_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> powers_;  ///< symbols^1 .. symbols^order
};

}  // namespace hydra
