#include "models/tokenizers/word_tokenizer.hpp"

#include "models/tokenizers/word_cache.hpp"

#include <utility>

namespace hydra {

class word_tokenizer::call final : public piece_encoder {
 public:
  call(const word_tokenizer& t, std::size_t bytes, made_texts& made, std::vector<std::uint32_t>& ids)
      : tokenizer_{t}, made_{made}, ids_{ids}, begin_{ids.size()}, cache_{bytes} {}

  void encode(std::string_view piece) override {
    const bool first = ids_.size() == begin_;  // every piece and every added token before would have an id
    tokenizer_.words_.split({piece, first}, made_, tokenizer_.cuts() ? cut_ : append_);
  }

 private:
  void append(std::string_view word) {
    word_cache::entry& known = cache_.at(word);
    if (known.word != word) {
      const std::size_t begin = ids_.size();
      tokenizer_.append(word, ids_, symbols_);
      known = {word, begin, ids_.size() - begin};
      return;
    }
    for (std::size_t i = 0; i < known.count; ++i) ids_.push_back(ids_[known.begin + i]);
  }

  const word_tokenizer& tokenizer_;
  made_texts& made_;
  std::vector<std::uint32_t>& ids_;
  std::size_t begin_;
  word_cache cache_;
  std::vector<std::uint32_t> symbols_;
  pre_tokenizer::sink append_ = [this](std::string_view word) { append(word); };
  pre_tokenizer::sink cut_ = [this](std::string_view word) { tokenizer_.cut(word, append_); };
};

word_tokenizer::word_tokenizer(tokenizer_parts parts, pre_tokenizer words)
    : file_tokenizer{std::move(parts)}, words_{std::move(words)} {}

std::unique_ptr<word_tokenizer::piece_encoder> word_tokenizer::begin(std::size_t bytes, made_texts& made,
                                                                     std::vector<std::uint32_t>& ids) const {
  return std::make_unique<call>(*this, bytes, made, ids);
}

}  // namespace hydra
