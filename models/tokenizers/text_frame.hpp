#pragma once
// What begins and ends a text of its own.

#include "models/tokenizers/tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hydra {

// Both leave out what is written in the text already.

/// Puts special.before before the ids. Returns how many tokens that are.
std::size_t begin_text(const special_tokens& special, std::vector<std::uint32_t>& ids);
/// Appends special.after, and the end-of-text token if that is not its last.
void end_text(const special_tokens& special, std::vector<std::uint32_t>& ids);

}  // namespace hydra
