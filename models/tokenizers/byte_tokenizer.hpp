#pragma once
// Every byte is a token.

#include "models/tokenizers/tokenizer.hpp"

namespace hydra {

/// 256 tokens, none of them special. id_of() accepts a text of one byte.
class byte_tokenizer final : public tokenizer {
 public:
  using tokenizer::encode;
  void encode(std::string_view text, std::vector<std::uint32_t>& ids) const override;
  std::string decode(std::span<const std::uint32_t> ids) const override;
  std::int64_t vocabulary() const override { return 256; }
  std::optional<std::uint32_t> id_of(std::string_view token) const override;
  special_tokens special() const override { return {}; }
  std::string identity() const override { return "bytes"; }
  std::string describe() const override { return "tokenizer bytes"; }
};

}  // namespace hydra
