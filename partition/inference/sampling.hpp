#pragma once
// The next token of a text, from a language model's logits.

#include <cstdint>
#include <span>

namespace hydra {

/// Applied in this order, as in Hugging Face transformers.
struct sampling_options {
  double temperature = 1;  ///< logits are divided by it; 0: always the most probable token
  std::int64_t top_k = 0;  ///< only the k most probable tokens; 0: all
  double top_p = 1;        ///< only the most probable tokens that together have at least this probability
  std::uint64_t seed = 0;
};

/// Identifies a choice: the text (of several), and the position of the token in it.
struct sampling_place {
  std::uint64_t sample = 0;
  std::uint64_t position = 0;
};

/// Throws fault_error{bad_input} for values out of range.
void check(const sampling_options& options);

/// The id of the token: a pure function of its arguments. Of tokens with equal logits the smaller id counts as more
/// probable. Throws fault_error{not_finite} if a logit is NaN or positive infinity.
std::int64_t pick_token(std::span<const float> logits, const sampling_options& options, const sampling_place& where);

}  // namespace hydra
