#pragma once
// Rotary positions (Su et al. 2021): pairs of a head's features are rotated by angles that grow with the token's
// position.

#include "runtime/base/tensor_fwd.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hydra {

/// How the angles are scaled for texts longer than those of the original training.
struct rope_scaling {
  enum class kind : std::uint8_t { none, linear, llama3, longrope } how = kind::none;
  double factor = 1;                  ///< of the scaling
  double low_frequency_factor = 1;    ///< llama3: waves longer than original_context / this are stretched
  double high_frequency_factor = 4;   ///< llama3: waves shorter than original_context / this are not
  std::int64_t original_context = 0;  ///< llama3: tokens per sample in the original training
  std::vector<double> factors{};      ///< longrope: of the wavelength of each pair
  double magnitude = 1;               ///< longrope: of the rotated queries and keys
  friend bool operator==(const rope_scaling&, const rope_scaling&) = default;
};

/// "none", "linear", "llama3", "longrope".
std::string to_string(rope_scaling::kind how);

/// f32[tokens]: first, first + 1, ..., on the device of `like`.
at::Tensor consecutive_positions(std::int64_t first, std::int64_t tokens, const at::Tensor& like);

struct rotary_options {
  std::int64_t size = 0;  ///< features of a head that are rotated; even
  double theta = 10000;   ///< base of the wavelengths
  rope_scaling scaling{};
};

/// Feature i is paired with feature i + size/2, as in Hugging Face's checkpoints. Angles are computed in fp32 as
/// transformers does: at position 8192 an ulp of a frequency is 5e-4 of an angle.
class rotary {
 public:
  /// Throws fault_error{bad_input} for an odd size, impossible numbers, or not as many factors as pairs.
  explicit rotary(const rotary_options& options);

  /// x [samples, heads, tokens, size of a head] with its first `size` features rotated; the same shape. `positions` of
  /// the tokens: [tokens] or [samples, tokens].
  at::Tensor rotate(const at::Tensor& x, const at::Tensor& positions) const;

  /// Radians per token of each pair.
  const std::vector<float>& frequencies() const noexcept { return frequencies_; }

 private:
  std::vector<float> frequencies_;
  double magnitude_;
};

}  // namespace hydra
