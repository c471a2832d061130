#pragma once
// A tokenizer of bytes with special tokens, as of a chat template.

#include "models/tokenizers/bpe_trainer.hpp"
#include "models/tokenizers/tokenizer.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hydra::test {

/// Written into the folder, too. The special tokens have the first ids.
inline std::shared_ptr<const tokenizer> bytes_with(const temporary_folder& folder, std::vector<std::string> special) {
  const auto tokens = static_cast<std::int64_t>(special.size()) + 256;
  bpe_trainer trainer{{.vocabulary = tokens, .special = std::move(special)}};
  trainer.add("");
  folder.write("tokenizer.json", to_tokenizer_json(trainer.train()));
  return open_tokenizer({.file = folder.path()});
}

}  // namespace hydra::test
