#pragma once
// Tokens of one record: which are left of one that is too long.

#include "models/data/record_encoding.hpp"

#include <string_view>

namespace hydra {

/// Leaves at most `space` words: what precedes the first target with a loss loses its start behind the first `kept`
/// words, down to half of the space, then the rest its end. Marks the record if it has lost something.
void shorten(std::vector<record_word>& words, std::size_t space, std::size_t kept);

/// How many tokens of a text the part before a place has, and whether the next one reaches across that place.
struct token_cut {
  std::size_t tokens = 0;
  bool across = false;
};
token_cut cut_after(std::string_view before, std::span<const std::uint32_t> all, const tokenizer& by);

}  // namespace hydra
