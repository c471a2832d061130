#include "models/tokenizers/part_readers.hpp"

#include "models/tokenizers/pipeline_parts.hpp"
#include "models/tokenizers/tokenizer_source.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

using json = nlohmann::json;
using step_kind = pre_tokenizer_step::kind;

/// What a part says about one character.
std::string character_of(const model_config& part, std::string_view key, std::string fallback) {
  std::string one = part.text(key, std::move(fallback));
  if (one.empty() || first_code_point(one).length != one.size())
    part.refuse(key, fmt::format("{} is not one character", in_quotes(one)));
  return one;
}

metaspace::prefix prefix_of(const model_config& part) {
  const std::string scheme = part.text("prepend_scheme", "always");
  if (!part.boolean("add_prefix_space", true) && scheme != "never")
    part.refuse("add_prefix_space", fmt::format("is false, but prepend_scheme is \"{}\"", shown(scheme)));
  if (scheme == "always") return metaspace::prefix::always;
  if (scheme == "first") return metaspace::prefix::first;
  if (scheme == "never") return metaspace::prefix::never;
  part.refuse("prepend_scheme", fmt::format("\"{}\" is neither always, first nor never", shown(scheme)));
}

metaspace read_metaspace(const model_config& part) {
  part.ignore({"split", "str_rep"});  // the first one is read where it has an effect, the second is of older files
  return {character_of(part, "replacement", metaspace{}.replacement), prefix_of(part)};
}

void add_metaspace(const model_config& file, const model_config& part, std::vector<pre_tokenizer_step>& steps) {
  const metaspace blanks = read_metaspace(part);
  if (blanks.when == metaspace::prefix::first) require_start_kept(file, blanks.replacement);
  steps.push_back({.what = step_kind::write_blanks, .blanks = blanks});
  if (part.boolean("split", true)) steps.push_back({step_kind::cut_before, split_pattern::literal(blanks.replacement)});
}

struct words {
  pre_tokenizer split{{}};
  bool at_space = false;
};

words read_words(const model_config& file) {
  std::vector<pre_tokenizer_step> steps;
  bool at_space = false;
  for (const model_config& part : members(file, "pre_tokenizer", "pretokenizers")) {
    const std::string type = type_of(part);
    if (type == "Metaspace")
      add_metaspace(file, part, steps);
    else if (type == "WhitespaceSplit")
      steps.push_back({step_kind::remove_found, split_pattern{R"(\s+)"}});
    else if (type == "Split")
      steps.push_back(read_split(part));
    else if (type == "Digits")
      steps.push_back(read_digits(part));
    else
      refuse_type(part, "Metaspace, WhitespaceSplit, Split, Digits, a Sequence of them, or none");
    at_space |= type == "WhitespaceSplit";
  }
  return {pre_tokenizer{std::move(steps)}, at_space};
}

stripped_ends read_ends(const model_config& part) {
  const auto count = [&](std::string_view key) {
    const std::int64_t n = part.integer(key, 0);
    if (n < 0) part.refuse(key, fmt::format("{} is negative", n));
    return static_cast<std::size_t>(n);
  };
  return {character_of(part, "content", " "), count("start"), count("stop")};
}

piece_decoder::step read_decoder_step(const model_config& part) {
  const std::string type = type_of(part);
  if (type == "Replace") return replace_in_tokens(read_replacement(part));
  if (type == "ByteFallback") return join_bytes();
  if (type == "Fuse") return fuse_tokens();
  if (type == "Strip") return strip_tokens(read_ends(part));
  if (type != "Metaspace")
    refuse_type(part, "Metaspace, Replace, ByteFallback, Fuse, Strip, a Sequence of them, or none");
  const auto [written, prefix] = read_metaspace(part);
  return read_blanks(written, prefix != metaspace::prefix::never);
}

piece_decoder read_decoder(const model_config& file) {
  std::vector<piece_decoder::step> steps;
  for (const model_config& part : members(file, "decoder", "decoders")) steps.push_back(read_decoder_step(part));
  if (file.has("decoder")) steps.push_back(fuse_tokens());  // nothing is between tokens, even of an empty Sequence
  return piece_decoder{std::move(steps)};
}

/// Calls `entry(index, [token, score])`.
template <class Entry>
void each_scored(const model_config& model, const Entry& entry) {
  const json& vocab = model.content().at("vocab");
  if (!vocab.is_array() || vocab.empty()) model.refuse("vocab", "is not a list of tokens and their scores");
  for (std::size_t i = 0; i < vocab.size(); ++i) {
    const json& v = vocab[i];
    if (!v.is_array() || v.size() != 2 || !v[0].is_string() || !v[1].is_number())
      model.refuse(fmt::format("vocab[{}]", i), "is not a token with its score");
    entry(i, v);
  }
}

}  // namespace

piece_bpe_rules read_piece_bpe(const model_config& file, bpe_rules rules) {
  auto [split, at_space] = read_words(file);
  rules.words = std::move(split);
  return {.bpe = std::move(rules), .decoder = read_decoder(file), .splits_at_space = at_space};
}

token_table read_scored_vocabulary(const model_config& model) {
  token_table tokens;
  each_scored(model, [&](std::size_t i, const json& v) {
    const std::string& token = v[0].get_ref<const std::string&>();
    if (const auto complaint = tokens.add(token, i)) model.refuse(fmt::format("vocab[{}]", i), *complaint);
  });
  return tokens;
}

unigram_rules read_unigram(const model_config& file, const model_config& model) {
  auto [split, at_space] = read_words(file);
  unigram_rules rules{.words = std::move(split), .decoder = read_decoder(file), .splits_at_space = at_space};
  each_scored(model, [&](std::size_t, const json& v) { rules.scores.push_back(v[1].get<double>()); });
  rules.byte_fallback = model.boolean("byte_fallback", false);
  if (!model.has("unk_id")) return rules;
  const std::int64_t unknown = model.integer("unk_id");
  if (unknown < 0 || unknown >= std::ssize(rules.scores))
    model.refuse("unk_id", fmt::format("{} is not an id of the vocabulary of {} tokens", unknown, rules.scores.size()));
  rules.unknown = static_cast<std::uint32_t>(unknown);
  return rules;
}

}  // namespace hydra
