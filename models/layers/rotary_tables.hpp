#pragma once
// Cosines and sines of rotary positions for devices whose tensors are not on the CPU.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace hydra {

/// Where a stretch of a text lies.
struct token_stretch {
  std::int64_t first = 0;  ///< position of its first token
  std::int64_t tokens = 0;
  friend bool operator==(const token_stretch&, const token_stretch&) = default;
};

/// fp32 [tokens, pairs] on the CPU: the angles of every position, in radians.
at::Tensor rotary_angles(const std::vector<float>& frequencies, const token_stretch& where);

/// fp32 [2, tokens, pairs], the cosines and then the sines of the angles, bit for bit as the CPU has them. The layers of
/// a model turn by the same angles, so the last few tables are kept, on the heap: they belong to no device. Thread-safe.
std::shared_ptr<const std::vector<float>> rotary_tables(const std::vector<float>& frequencies,
                                                        const token_stretch& where);

}  // namespace hydra
