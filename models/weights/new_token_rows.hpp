#pragma once
// The rows that an embedding, a head or its bias gets for tokens that are not stored.

#include "models/weights/safetensors.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hydra {

/// Makes the row of a new token of those that are stored: their mean. transformers' resize_token_embeddings draws it
/// from a normal distribution around that whose covariance is 1e-9 of theirs, if that is positive definite. In a bias
/// it is 0: transformers appends zeros to BERT's (_adjust_bias), whose head is tied.
class row_sums {
 public:
  /// `shape`: [rows, columns], of a bias [rows].
  explicit row_sums(const std::vector<std::int64_t>& shape)
      : is_bias_{shape.size() == 1}, sums_(is_bias_ ? 1 : static_cast<std::size_t>(shape.back())) {}

  /// More of the stored rows, in their order.
  void add(std::span<const float> rows);
  std::vector<float> new_row() const;

 private:
  bool is_bias_;
  std::vector<double> sums_;
  std::size_t rows_ = 0;
};

/// Some of the rows of a tensor.
stored_tensor rows_in(const stored_tensor& t, std::int64_t first, std::int64_t count);

/// Whether a tensor has the rows of `stored` and, behind them, new ones. Both widen to fp32 and are in a file's
/// mapping, of which a part is read at a time.
bool grows_from(const stored_tensor& t, const stored_tensor& stored);

}  // namespace hydra
