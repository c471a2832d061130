#include "models/tokenizers/byte_level_bpe.hpp"

#include "models/tokenizers/byte_alphabet.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {

byte_level_bpe::byte_level_bpe(tokenizer_parts given, bpe_rules rules)
    : word_tokenizer{std::move(given), std::move(rules.words)}, rules_{std::move(rules)} {
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

void byte_level_bpe::append(std::string_view word, std::vector<std::uint32_t>& ids,
                            std::vector<std::uint32_t>& symbols) const {
  if (const auto id = whole(word)) return ids.push_back(*id);
  symbols.clear();
  spell(word, symbols);
  rules_.merges.merge(symbols);
  ids.insert(ids.end(), symbols.begin(), symbols.end());
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
      refuse(fmt::format("the byte 0x{:02X} of \"{}\" has no token in {}, and there is no unknown token", byte,
                         shown(word), parts().file));
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
