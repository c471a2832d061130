#pragma once
// The parameters of language models that have a row for each token.

#include <string_view>

namespace hydra {

/// Whether a parameter, by its full name, is a token embedding, a head over the tokens or that head's bias: what gets
/// rows with new tokens.
bool has_row_per_token(std::string_view parameter) noexcept;

}  // namespace hydra
