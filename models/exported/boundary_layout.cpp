#include "models/exported/boundary_layout.hpp"

#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

namespace hydra {

namespace {

[[noreturn]] void refuse_size(const graph_part& part, std::int64_t samples) {
  refuse(fmt::format("\"{}\" is too large, or has a size below 0, for {} samples", part.name, samples));
}

std::int64_t bytes_of(const graph_part& part, std::int64_t samples) {
  auto bytes = static_cast<std::int64_t>(width_of(part.type));
  for (const std::int64_t size : evaluate(part.shape, samples))
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) refuse_size(part, samples);
  return bytes;
}

}  // namespace

boundary_layout lay_out(const std::vector<graph_part>& parts, std::int64_t samples) {
  boundary_layout all;
  for (const graph_part& part : parts) {
    const std::int64_t bytes = bytes_of(part, samples);
    all.parts.push_back({all.bytes, bytes});
    std::int64_t padded = 0;
    if (__builtin_add_overflow(bytes, part_alignment - 1, &padded)) refuse_size(part, samples);
    if (__builtin_add_overflow(all.bytes, padded / part_alignment * part_alignment, &all.bytes))
      refuse_size(part, samples);
  }
  return all;
}

}  // namespace hydra
