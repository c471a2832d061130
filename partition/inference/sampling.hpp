#pragma once
// The next token of a text, from a language model's logits.

#include <cstdint>
#include <span>

namespace hydra {

/// Applied in this order, as transformers does.
struct sampling_options {
  double temperature = 1;  ///< logits are divided by it; 0: always the likeliest token
  std::int64_t top_k = 0;  ///< only the likeliest k tokens; 0: all
  double top_p = 1;        ///< only the likeliest tokens that together have at least this probability
  std::uint64_t seed = 0;
};

/// Which choice it is: one of several texts, and the place of the token in it.
struct sampling_place {
  std::uint64_t sample = 0;
  std::uint64_t position = 0;
};

/// Throws fault_error{bad_input} for numbers that make no sense.
void check(const sampling_options& options);

/// The id of the token: a pure function of its arguments. Of tokens with equal logits the smaller id counts as likelier.
/// Throws fault_error{not_finite} if a logit is no number or positive infinity.
std::int64_t pick_token(std::span<const float> logits, const sampling_options& options, const sampling_place& where);

}  // namespace hydra
