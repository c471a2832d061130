#pragma once
// Which samples a step reads: a pure function of (seed, step).

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

namespace hydra {

/// The position of a step's batch in its epoch.
struct batch_position {
  std::uint64_t epoch = 0;
  std::size_t first = 0;  ///< index in the epoch's order
};

struct batch_order {
  std::size_t samples = 0;
  std::size_t batch_size = 1;
  std::uint64_t seed = 0;
  bool shuffle = true;

  /// Whole batches of one epoch; the incomplete last one is dropped.
  std::size_t batches_per_epoch() const noexcept { return samples / batch_size; }

  /// Throws fault_error{bad_input} if there are too few samples for one batch.
  batch_position position(std::uint64_t step) const;

  /// Sample indices of a step. Shuffled per epoch by a permutation that depends on (seed, epoch) only. Each call
  /// computes a permutation of all samples: use batch_cursor for many steps.
  std::vector<std::size_t> batch(std::uint64_t step) const;
};

/// Permutations of samples, 8 bytes each, kept while a cursor uses them: models with the same seed and data share one.
/// For one thread.
class epoch_orders {
 public:
  std::shared_ptr<const std::vector<std::size_t>> of(std::size_t samples, std::uint64_t seed, std::uint64_t epoch);

 private:
  std::map<std::tuple<std::size_t, std::uint64_t, std::uint64_t>, std::weak_ptr<const std::vector<std::size_t>>> known_;
};

/// batch_order for consecutive steps: keeps the permutation of the last epoch. Same results.
class batch_cursor {
 public:
  /// `orders`: shared with other cursors; null: none.
  explicit batch_cursor(const batch_order& order, std::shared_ptr<epoch_orders> orders = {});
  std::vector<std::size_t> batch(std::uint64_t step);

 private:
  batch_order order_;
  std::optional<std::uint64_t> epoch_;  ///< of permutation_
  std::shared_ptr<const std::vector<std::size_t>> permutation_;
  std::shared_ptr<epoch_orders> orders_;
};

/// The permutation of 0..n-1 for an epoch (Fisher-Yates with keyed random numbers).
std::vector<std::size_t> epoch_permutation(std::size_t n, std::uint64_t seed, std::uint64_t epoch);

}  // namespace hydra
