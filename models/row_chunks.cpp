#include "models/row_chunks.hpp"

#include <ATen/core/Tensor.h>

#include <algorithm>

namespace hydra {

std::vector<row_range> row_chunks(std::int64_t rows, std::int64_t each) {
  if (each <= 0 || each >= rows) return {{0, rows}};
  std::vector<row_range> chunks;
  for (std::int64_t begin = 0; begin < rows; begin += each) chunks.push_back({begin, std::min(each, rows - begin)});
  return chunks;
}

std::int64_t rows_of(const tensor_spec& values) noexcept { return values.elements() / values.shape.back(); }

std::int64_t rows_of(const at::Tensor& values) { return values.numel() / values.size(-1); }

at::Tensor rows_of(const at::Tensor& values, row_range rows) {
  return values.view({1, -1, values.size(-1)}).narrow(1, rows.begin, rows.count);
}

at::Tensor targets_of(const at::Tensor& targets, row_range rows) {
  return targets.view({1, -1}).narrow(1, rows.begin, rows.count);
}

}  // namespace hydra
