#pragma once
// How many tokens a model has been trained on, where samples have padding.

#include "models/data/batch_order.hpp"
#include "models/data_source.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace hydra {

/// Tokens of each training sample, 4 bytes a sample, and the order they are read in.
struct token_counts {
  std::vector<std::uint32_t> of_samples;
  batch_order order;
};

/// Null if no training sample has padding: then targets are counted without it.
std::shared_ptr<const token_counts> count_tokens(const data_source& source, const batch_order& order);

/// Their sum over the first steps, a pure function of the number of steps: a resumed run continues it exactly. For one
/// thread.
class token_counter {
 public:
  explicit token_counter(std::shared_ptr<const token_counts> counts)
      : counts_(std::move(counts)), cursor_(counts_->order) {}

  /// Cheap for ascending numbers.
  std::uint64_t after(std::uint64_t steps);

 private:
  std::shared_ptr<const token_counts> counts_;
  batch_cursor cursor_;
  std::uint64_t steps_ = 0, tokens_ = 0;
};

}  // namespace hydra
