#include "models/tokenizers/byte_level_bpe.hpp"

#include "models/tokenizers/byte_alphabet.hpp"
#include "models/tokenizers/word_cache.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {

class byte_level_bpe::call final : public piece_encoder {
 public:
  call(const byte_level_bpe& t, std::size_t bytes, made_texts& made, std::vector<std::uint32_t>& ids)
      : tokenizer_{t}, made_{made}, ids_{ids}, cache_{bytes} {}

  void encode(std::string_view piece) override {
    tokenizer_.rules_.words.split(piece, made_, [this](std::string_view word) { append(word); });
  }

 private:
  void append(std::string_view word) {
    word_cache::entry& known = cache_.at(word);
    if (known.word != word) {
      const std::size_t begin = ids_.size();
      append_unknown(word);
      known = {word, begin, ids_.size() - begin};
      return;
    }
    for (std::size_t i = 0; i < known.count; ++i) ids_.push_back(ids_[known.begin + i]);
  }

  void append_unknown(std::string_view word) {
    if (const auto id = tokenizer_.whole(word)) return ids_.push_back(*id);
    symbols_.clear();
    tokenizer_.spell(word, symbols_);
    tokenizer_.rules_.merges.merge(symbols_);
    ids_.insert(ids_.end(), symbols_.begin(), symbols_.end());
  }

  const byte_level_bpe& tokenizer_;
  made_texts& made_;
  std::vector<std::uint32_t>& ids_;
  word_cache cache_;
  std::vector<std::uint32_t> symbols_;
};

byte_level_bpe::byte_level_bpe(tokenizer_parts given, bpe_rules rules)
    : file_tokenizer{std::move(given)}, rules_{std::move(rules)} {
  for (unsigned byte = 0; byte < 256; ++byte)
    byte_ids_[byte] = parts().tokens.find(alphabet_of(static_cast<unsigned char>(byte)));
  pieces_.resize(static_cast<std::size_t>(vocabulary()));
  for (const auto& [token, id] : parts().tokens.ids()) {
    auto bytes = from_alphabet(token);
    if (bytes && rules_.ignore_merges) words_.emplace(*bytes, id);
    pieces_[id] = bytes ? std::move(*bytes) : token;
  }
  for (std::uint32_t id = 0; id < pieces_.size(); ++id)
    if (is_added(id)) pieces_[id] = *token_of(id);
}

std::unique_ptr<byte_level_bpe::piece_encoder> byte_level_bpe::begin(std::size_t bytes, made_texts& made,
                                                                     std::vector<std::uint32_t>& ids) const {
  return std::make_unique<call>(*this, bytes, made, ids);
}

std::optional<std::uint32_t> byte_level_bpe::whole(std::string_view word) const {
  if (!rules_.ignore_merges) return std::nullopt;
  const auto found = words_.find(word);
  return found == words_.end() ? std::nullopt : std::optional{found->second};
}

void byte_level_bpe::spell(std::string_view word, std::vector<std::uint32_t>& symbols) const {
  bool unknown_before = false;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    const auto id = byte_ids_[byte] ? byte_ids_[byte] : rules_.unknown;
    if (!id)
      throw fault_error{fault_code::bad_input,
                        fmt::format("the byte 0x{:02X} of \"{}\" has no token in {}, and there is "
                                    "no unknown token",
                                    byte, word, parts().file)};
    const bool fused = !byte_ids_[byte] && unknown_before && rules_.fuse_unknown;
    if (!fused) symbols.push_back(*id);
    unknown_before = !byte_ids_[byte];
  }
}

std::string byte_level_bpe::decode_known(std::span<const std::uint32_t> ids) const {
  std::string text;
  for (const std::uint32_t id : ids) text += pieces_[id];
  return text;
}

}  // namespace hydra
