#include "models/tokenizers/bpe_trainer.hpp"

#include "models/tokenizers/byte_alphabet.hpp"
#include "models/tokenizers/pair_counts.hpp"
#include "models/tokenizers/unicode.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace hydra {

namespace {

using nlohmann::ordered_json;

void check(const bpe_training& o) {
  const auto least = static_cast<std::int64_t>(256 + o.special.size());
  if (o.vocabulary < least || o.vocabulary > static_cast<std::int64_t>(token_table::largest_id) + 1)
    refuse(fmt::format(
        "a vocabulary of {} tokens: at least {} are needed (256 bytes and the special tokens), at most {} are possible",
        o.vocabulary, least, token_table::largest_id + 1));
  if (o.least_count < 1) refuse(fmt::format("pairs that occur {} times cannot be merged", o.least_count));
  for (const std::string& token : o.special) {
    require_utf8(token);
    const auto bytes = from_alphabet(token);
    if (token.empty() || (bytes && bytes->size() == 1))
      refuse(fmt::format("\"{}\" cannot be a special token", shown(token)));
    if (std::ranges::count(o.special, token) > 1)
      refuse(fmt::format("the special token \"{}\" is given twice", shown(token)));
  }
}

std::vector<added_token> as_added(const std::vector<std::string>& special) {
  std::vector<added_token> tokens;
  for (const std::string& content : special)
    tokens.push_back({.content = content, .id = static_cast<std::uint32_t>(tokens.size()), .special = true});
  return tokens;
}

/// Tokens without merges: special ones, then the bytes by their characters.
token_table beginning(const bpe_training& options, trained_bpe& trained) {
  trained.tokens = options.special;
  trained.special = options.special.size();
  std::vector<std::string> bytes;
  for (unsigned byte = 0; byte < 256; ++byte) bytes.emplace_back(alphabet_of(static_cast<unsigned char>(byte)));
  std::ranges::sort(bytes);  // UTF-8 sorts like code points
  trained.tokens.insert(trained.tokens.end(), bytes.begin(), bytes.end());
  token_table known;
  for (const std::string& token : trained.tokens)
    if (const auto complaint = known.add(token, known.size())) refuse(*complaint);
  return known;
}

/// In no particular order; nothing depends on it.
template <class Counts>
std::vector<counted_word> spelled(const Counts& counts, const token_table& known) {
  std::array<std::uint32_t, 256> ids;
  for (unsigned byte = 0; byte < 256; ++byte) ids[byte] = *known.find(alphabet_of(static_cast<unsigned char>(byte)));
  std::vector<counted_word> words;
  for (const auto& [word, count] : counts) {
    counted_word w{.symbols = {}, .count = count};
    for (const char c : word) w.symbols.push_back(ids[static_cast<unsigned char>(c)]);
    words.push_back(std::move(w));
  }
  return words;
}

}  // namespace

bpe_trainer::bpe_trainer(bpe_training options)
    : options_{std::move(options)},
      special_{as_added(options_.special), {}},
      words_{{{pre_tokenizer_step::kind::isolate, split_pattern{split_pattern::gpt2()}}}} {
  check(options_);
}

void bpe_trainer::add(std::string_view text) {
  require_utf8(text);
  made_texts made;
  const auto count = [this](std::string_view word) {
    const auto found = counts_.find(word);
    found == counts_.end() ? void(counts_.emplace(word, 1)) : void(++found->second);
  };
  special_.split(text, made,
                 {[&](std::string_view piece) { words_.split({piece}, made, count); }, [](std::uint32_t) {}});
}

trained_bpe bpe_trainer::train() const {
  trained_bpe trained;
  token_table known = beginning(options_, trained);
  pair_counts pairs{spelled(counts_, known)};
  while (std::cmp_less(trained.tokens.size(), options_.vocabulary)) {
    const auto best = pairs.most_frequent();
    if (!best || best->count < options_.least_count) break;
    const std::string &left = trained.tokens[best->left], &right = trained.tokens[best->right];
    trained.merges.push_back(fmt::format("{} {}", left, right));
    const std::string both = left + right;
    const auto there = known.find(both);  // merged from two other tokens, or special
    const auto id = there.value_or(static_cast<std::uint32_t>(trained.tokens.size()));
    if (!there) {
      if (const auto complaint = known.add(both, id)) refuse(*complaint);
      trained.tokens.push_back(both);
    }
    pairs.merge(*best, id);
  }
  return trained;
}

std::string to_tokenizer_json(const trained_bpe& trained) {
  ordered_json added = ordered_json::array(), vocab = ordered_json::object();
  for (std::size_t id = 0; id < trained.special; ++id)
    added.push_back({{"id", id},
                     {"content", trained.tokens[id]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  // Inserting into an ordered_json searches all its keys: the vocabulary is filled as the list of pairs that it is.
  auto& pairs = vocab.get_ref<ordered_json::object_t&>();
  for (std::size_t id = 0; id < trained.tokens.size(); ++id)
    static_cast<std::vector<ordered_json::object_t::value_type>&>(pairs).emplace_back(trained.tokens[id], id);
  const ordered_json byte_level{
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const ordered_json file{{"version", "1.0"},
                  {"truncation", nullptr},
                  {"padding", nullptr},
                  {"added_tokens", added},
                  {"normalizer", nullptr},
                  {"pre_tokenizer", byte_level},
                  {"post_processor", nullptr},
                  {"decoder", byte_level},
                  {"model",
                   {{"type", "BPE"},
                    {"dropout", nullptr},
                    {"unk_token", nullptr},
                    {"continuing_subword_prefix", nullptr},
                    {"end_of_word_suffix", nullptr},
                    {"fuse_unk", false},
                    {"byte_fallback", false},
                    {"ignore_merges", false},
                    {"vocab", vocab},
                    {"merges", trained.merges}}}};
  return json_text(file, 1) + "\n";
}

}  // namespace hydra
