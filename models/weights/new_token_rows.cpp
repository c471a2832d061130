#include "models/weights/new_token_rows.hpp"

#include "models/weights/stored_values.hpp"

#include <algorithm>

namespace hydra {
namespace {

constexpr std::int64_t values_at_once = 1 << 18;

/// Calls `each` with the values of some rows at a time.
template <class Each>
void for_rows(const stored_tensor& t, const Each& each) {
  const std::int64_t all = t.shape.front(), width = t.shape.size() == 1 ? 1 : t.shape.back();
  const std::int64_t at_once = std::max(values_at_once / width, std::int64_t{1});
  std::vector<float> values(static_cast<std::size_t>(std::min(at_once, all) * width));
  for (std::int64_t first = 0; first < all; first += at_once) {
    const std::int64_t count = std::min(at_once, all - first);
    const auto part = std::span{values}.first(static_cast<std::size_t>(count * width));
    widen_mapped(rows_in(t, first, count), part);
    each(std::span<const float>{part});
  }
}

}  // namespace

void row_sums::add(std::span<const float> rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) sums_[i % sums_.size()] += static_cast<double>(rows[i]);
  rows_ += rows.size() / sums_.size();
}

std::vector<float> row_sums::new_row() const {
  std::vector<float> mean(sums_.size());
  for (std::size_t c = 0; c < mean.size(); ++c)
    mean[c] = is_bias_ ? 0 : static_cast<float>(sums_[c] / static_cast<double>(rows_));
  return mean;
}

stored_tensor rows_in(const stored_tensor& t, std::int64_t first, std::int64_t count) {
  stored_tensor part = t;
  const std::size_t row = t.data.size() / static_cast<std::size_t>(t.shape.front());
  part.shape.front() = count;
  part.data = t.data.subspan(static_cast<std::size_t>(first) * row, static_cast<std::size_t>(count) * row);
  return part;
}

bool grows_from(const stored_tensor& t, const stored_tensor& stored) {
  const std::int64_t rows = stored.shape.front();
  if (!equal_mapped(stored, rows_in(t, 0, rows))) return false;
  row_sums sums{stored.shape};
  for_rows(stored, [&](std::span<const float> part) { sums.add(part); });
  const std::vector<float> row = sums.new_row();
  bool equal = true;
  for_rows(rows_in(t, rows, t.shape.front() - rows), [&](std::span<const float> part) {
    for (std::size_t i = 0; i < part.size(); ++i) equal = equal && part[i] == row[i % row.size()];
  });
  return equal;
}

}  // namespace hydra
