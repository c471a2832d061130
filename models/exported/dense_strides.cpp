#include "models/exported/dense_strides.hpp"

#include <algorithm>
#include <cstddef>

namespace hydra {

bool is_dense(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
  if (std::ranges::any_of(strides, [](std::int64_t s) { return s < 0; })) return false;
  if (std::ranges::find(shape, 0) != shape.end()) return true;
  std::vector<std::size_t> wide;  // dimensions, the one of the smallest stride first
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1) wide.push_back(d);
  std::ranges::sort(wide, {}, [&](std::size_t d) { return strides[d]; });
  std::int64_t elements = 1;
  for (const std::size_t d : wide) {
    if (strides[d] != elements || __builtin_mul_overflow(elements, shape[d], &elements)) return false;
  }
  return true;
}

}  // namespace hydra
