#pragma once
// Checks of layers' options and inputs.

#include "models/tensor_spec.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace hydra {

/// Throws fault_error{bad_input} unless `input` has this type and number of dimensions and, if `last` is positive, this
/// last dimension. `who` names the layer.
void require_input(std::string_view who, const tensor_spec& input, element type, std::size_t dimensions,
                   std::int64_t last = 0);

/// Throws fault_error{bad_input} unless `input` has the columns of token_columns.hpp, with or without starts.
void require_token_columns(std::string_view who, const tensor_spec& input, std::int64_t width, bool targets);

/// Throws fault_error{bad_input} unless `value` is positive. `what` names the option, as in "gpt2: width".
void require_positive(std::string_view what, std::int64_t value);

/// Throws fault_error{bad_input} if `tokens` are more than `context`. `who` names the layer.
void require_context(std::string_view who, std::int64_t tokens, std::int64_t context);

/// Throws fault_error{bad_input} unless `p` is in [0, 1).
void require_dropout(std::string_view what, double p);

/// " eps=..." for signatures; empty for layer norm's usual 1e-5.
std::string eps_unless_usual(double eps);

/// Throws fault_error{bad_input} unless `input` is f32 [samples, channels, height, width]. `who` names the layer.
void require_images(std::string_view who, const tensor_spec& input, std::int64_t channels);

/// Throws fault_error{bad_input} unless `groups` is positive and divides `width`. `who` names the layer or family.
void require_groups(std::string_view who, std::int64_t groups, std::int64_t width);
/// The same for `heads`.
void require_heads(std::string_view who, std::int64_t heads, std::int64_t width);

/// Throws fault_error{bad_input}, with the numbers that do, unless `pieces` divide `n`. `what` they are: "heads".
void require_pieces(std::uint32_t pieces, std::int64_t n, std::string_view what);

}  // namespace hydra
