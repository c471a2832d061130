#include "models/sample_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <numeric>

namespace hydra {

std::int64_t sample_part::bytes() const noexcept {
  return std::accumulate(shape.begin(), shape.end(), static_cast<std::int64_t>(width), std::multiplies<>{});
}

tensor_spec row_of(std::span<const sample_part> parts) {
  std::int64_t bytes = 0;
  for (const sample_part& p : parts) bytes += padded_part(p.bytes());
  return {{bytes / 8}, element::bits};
}

std::string to_string(std::span<const sample_part> parts) {
  std::string text;
  for (const sample_part& p : parts)
    text += fmt::format("{}{} {}[{}]", text.empty() ? "" : ", ", p.name, p.type, fmt::join(p.shape, ", "));
  return text;
}

}  // namespace hydra
