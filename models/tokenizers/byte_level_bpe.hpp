#pragma once
// Byte-level byte-pair encoding: GPT-2, Llama 3, Qwen2 and similar tokenizers.

#include "models/tokenizers/file_tokenizer.hpp"
#include "models/tokenizers/merge_table.hpp"
#include "models/tokenizers/pre_tokenizer.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

struct bpe_rules {
  merge_table merges{0};
  pre_tokenizer words{{}};
  bool ignore_merges = false;  ///< a word that is a token needs no merges
  bool fuse_unknown = false;   ///< adjacent unknown bytes become one unknown token
  std::optional<std::uint32_t> unknown{};
};

/// Radford et al. 2019, section 2.2; Sennrich et al. 2016. Ids and texts are those of the `tokenizers` package, except
/// that a byte without a token is refused and not dropped if there is no unknown token.
class byte_level_bpe final : public file_tokenizer {
 public:
  byte_level_bpe(tokenizer_parts parts, bpe_rules rules);

 private:
  class call;
  std::unique_ptr<piece_encoder> begin(std::size_t bytes, made_texts& made,
                                       std::vector<std::uint32_t>& ids) const override;
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
