#pragma once
// Small tokenizer.json files for tests.

#include "models/tokenizers/byte_alphabet.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace hydra::test {

/// Byte-level BPE: the 256 bytes in order, then the results of the merges.
inline nlohmann::json bpe_file(const std::vector<std::string>& merges) {
  nlohmann::json vocab = nlohmann::json::object();
  for (unsigned byte = 0; byte < 256; ++byte) vocab[std::string{alphabet_of(static_cast<unsigned char>(byte))}] = byte;
  for (std::string merge : merges) {
    merge.erase(merge.find(' '), 1);
    if (!vocab.contains(merge)) vocab[merge] = vocab.size();
  }
  return {{"added_tokens", nlohmann::json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}}}};
}

/// WordPiece: tokens by id; the first is [UNK].
inline nlohmann::json wordpiece_file(const std::vector<std::string>& tokens) {
  nlohmann::json vocab = nlohmann::json::object();
  for (std::size_t id = 0; id < tokens.size(); ++id) vocab[tokens[id]] = id;
  return {{"normalizer", {{"type", "BertNormalizer"}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model", {{"type", "WordPiece"}, {"unk_token", "[UNK]"}, {"vocab", vocab}}}};
}

/// BPE of characters: tokens by id. Blanks are U+2581, also before the text, as in Llama 2.
inline nlohmann::json piece_bpe_file(const std::vector<std::string>& tokens, const std::vector<std::string>& merges) {
  nlohmann::json vocab = nlohmann::json::object();
  for (std::size_t id = 0; id < tokens.size(); ++id) vocab[tokens[id]] = id;
  const nlohmann::json prefix{{"type", "Prepend"}, {"prepend", "\u2581"}};
  const nlohmann::json blanks{{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
  const nlohmann::json read_blanks{{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}};
  const nlohmann::json strip{{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}};
  return {{"normalizer", {{"type", "Sequence"}, {"normalizers", {prefix, blanks}}}},
          {"pre_tokenizer", nullptr},
          {"decoder",
           {{"type", "Sequence"}, {"decoders", {read_blanks, {{"type", "ByteFallback"}}, {{"type", "Fuse"}}, strip}}}},
          {"model",
           {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}, {"unk_token", tokens.front()}, {"fuse_unk", true}}}};
}

/// Unigram as in T5: tokens with their scores by id; the first is unknown.
inline nlohmann::json unigram_file(const std::vector<std::pair<std::string, double>>& tokens) {
  const nlohmann::json words{{"type", "Sequence"},
                             {"pretokenizers", {{{"type", "WhitespaceSplit"}}, {{"type", "Metaspace"}}}}};
  return {{"pre_tokenizer", words},
          {"decoder", {{"type", "Metaspace"}}},
          {"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", tokens}}}};
}

/// A post_processor that puts special tokens around a text, `pair` left out.
inline nlohmann::json frame_of(const std::vector<std::pair<std::string, std::uint32_t>>& before,
                               const std::vector<std::pair<std::string, std::uint32_t>>& after) {
  nlohmann::json single = nlohmann::json::array(), special = nlohmann::json::object();
  const auto add = [&](const auto& tokens) {
    for (const auto& [text, id] : tokens) {
      single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0}}}});
      special[text] = {{"id", text}, {"ids", nlohmann::json::array({id})}, {"tokens", nlohmann::json::array({text})}};
    }
  };
  add(before);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  add(after);
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", nlohmann::json::array()},
          {"special_tokens", special}};
}

inline nlohmann::json added(std::uint32_t id, const std::string& content, bool normalized = false) {
  return {{"id", id}, {"content", content}, {"special", !normalized}, {"normalized", normalized}};
}

}  // namespace hydra::test
