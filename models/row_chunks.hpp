#pragma once
// Rows of a tensor that are computed at a time.

#include "models/tensor_spec.hpp"
#include "runtime/base/tensor_fwd.hpp"

#include <cstdint>
#include <vector>

namespace hydra {

struct row_range {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

/// `rows` in pieces of `each`, the last one may be smaller; one piece if `each` is 0.
std::vector<row_range> row_chunks(std::int64_t rows, std::int64_t each);

/// Of a tensor [..., width].
std::int64_t rows_of(const tensor_spec& values) noexcept;
std::int64_t rows_of(const at::Tensor& values);

/// Views of those rows of a contiguous tensor [..., width]: [1, count, width]; of contiguous targets [...]: [1, count].
at::Tensor rows_of(const at::Tensor& values, row_range rows);
at::Tensor targets_of(const at::Tensor& targets, row_range rows);

}  // namespace hydra
