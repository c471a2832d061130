#pragma once
// Byte-level byte-pair encoding: GPT-2, Llama 3, Qwen2 and similar tokenizers.

#include "models/tokenizers/bpe_rules.hpp"
#include "models/tokenizers/word_tokenizer.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Radford et al. 2019, section 2.2; Sennrich et al. 2016. Ids and texts are those of the `tokenizers` package, except
/// that a byte without a token is refused and not dropped if there is no unknown token.
class byte_level_bpe final : public word_tokenizer {
 public:
  byte_level_bpe(tokenizer_parts parts, bpe_rules rules);

 private:
  void append(std::string_view word, std::vector<std::uint32_t>& ids,
              std::vector<std::uint32_t>& symbols) const override;
  std::string decode_known(std::span<const std::uint32_t> ids) const override;

  std::optional<std::uint32_t> whole(std::string_view word) const;
  /// One symbol for each byte.
  void spell(std::string_view word, std::vector<std::uint32_t>& symbols) const;

  bpe_rules rules_;
  std::array<std::optional<std::uint32_t>, 256> byte_ids_{};
  std::vector<std::string> pieces_;  ///< bytes by id
  id_by_text words_;                 ///< ids by bytes; only if merges may be ignored
};

}  // namespace hydra
