#pragma once
// Tokens of one record: which are left of one that is too long.

#include "models/data/record_encoding.hpp"

namespace hydra {

/// Leaves at most `space` words: what precedes the first target with a loss loses its start, down to half of the space, then
/// the rest its end. Marks the record if it has lost something.
void shorten(std::vector<record_word>& words, std::size_t space);

}  // namespace hydra
