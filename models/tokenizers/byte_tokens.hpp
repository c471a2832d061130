#pragma once
// Tokens of single bytes, "<0x0A>", which write what no other token has (byte fallback).

#include "models/tokenizers/token_table.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hydra {

class byte_tokens {
 public:
  explicit byte_tokens(const token_table& tokens);

  /// Appends the bytes' ids, or nothing and false if one has no token.
  bool append(std::string_view bytes, std::vector<std::uint32_t>& ids) const;

 private:
  std::vector<std::optional<std::uint32_t>> ids_;  ///< by byte
};

/// The byte of a token that is written as "<0x0A>".
std::optional<char> byte_of(std::string_view token) noexcept;

}  // namespace hydra
