#pragma once
// Rotary positions (Su et al. 2021): pairs of a head's features are rotated by angles that grow with the token's
// position.

#include "models/layers/rope_scaling.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace hydra {

/// f32[tokens]: first, first + 1, ..., on the device of `like`.
at::Tensor consecutive_positions(std::int64_t first, std::int64_t tokens, const at::Tensor& like);

struct rotary_options {
  std::int64_t size = 0;  ///< features of a head that are rotated; even
  double theta = 10000;   ///< base of the wavelengths
  rope_scaling scaling{};
};

/// What turns the features of tokens: [tokens, pairs] or [samples, 1, tokens, pairs].
struct rotary_turns {
  at::Tensor cosines, sines;
};

/// Feature i is paired with feature i + size/2, as in Hugging Face's checkpoints. Angles are computed in fp32 as
/// transformers does: at position 8192 an ulp of a frequency is 5e-4 of an angle.
class rotary {
 public:
  /// Throws fault_error{bad_input} for an odd size, impossible numbers, or not as many factors as pairs.
  explicit rotary(const rotary_options& options);

  /// `positions` of the tokens: [tokens] or [samples, tokens]. Of the type of `like` and on its device: only the
  /// frequencies come from the host (small_constant.hpp), a few hundred bytes.
  rotary_turns turns_at(const at::Tensor& positions, const at::Tensor& like) const;

  /// Radians per token of each pair.
  const std::vector<float>& frequencies() const noexcept { return frequencies_; }

 private:
  std::vector<float> frequencies_;
  double magnitude_;
};

/// x [samples, heads, tokens, size of a head] with the features of the turns' pairs rotated, its first ones; the same
/// shape.
at::Tensor rotated(const at::Tensor& x, const rotary_turns& turns);

}  // namespace hydra
