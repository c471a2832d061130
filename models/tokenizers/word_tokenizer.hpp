#pragma once
// Tokenizers that encode each word of a text by itself, so that equal words have equal ids.

#include "models/tokenizers/file_tokenizer.hpp"
#include "models/tokenizers/pre_tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace hydra {

class word_tokenizer : public file_tokenizer {
 protected:
  word_tokenizer(tokenizer_parts parts, pre_tokenizer words);

 private:
  class call;
  std::unique_ptr<piece_encoder> begin(std::size_t bytes, made_texts& made,
                                       std::vector<std::uint32_t>& ids) const final;

  /// Appends the ids of a word, which is not empty. `symbols` is memory that words share.
  virtual void append(std::string_view word, std::vector<std::uint32_t>& ids,
                      std::vector<std::uint32_t>& symbols) const = 0;
  /// Whether words are cut into parts whose ids do not depend on each other: short ones are often seen again.
  virtual bool cuts() const { return false; }
  virtual void cut(std::string_view word, const pre_tokenizer::sink& part) const { part(word); }

  pre_tokenizer words_;
};

}  // namespace hydra
