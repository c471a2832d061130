#pragma once
// What the kinds of byte-pair encoding have in common.

#include "models/tokenizers/merge_table.hpp"
#include "models/tokenizers/pre_tokenizer.hpp"

#include <cstdint>
#include <optional>

namespace hydra {

struct bpe_rules {
  merge_table merges{0};
  pre_tokenizer words{{}};
  bool ignore_merges = false;  ///< a word that is a token needs no merges
  bool fuse_unknown = false;   ///< adjacent unknown symbols become one unknown token
  std::optional<std::uint32_t> unknown{};
};

}  // namespace hydra
