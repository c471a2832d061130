#include "models/tokenizers/file_openers.hpp"

#include "models/tokenizers/added_reader.hpp"
#include "models/tokenizers/byte_level_bpe.hpp"
#include "models/tokenizers/part_readers.hpp"
#include "models/tokenizers/settings_notes.hpp"
#include "models/tokenizers/special_names.hpp"
#include "models/tokenizers/tokenizer_source.hpp"
#include "models/tokenizers/vocabulary_reader.hpp"
#include "models/tokenizers/wordpiece.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace hydra {

namespace {

/// The id of the model's unknown token, which must be in the vocabulary.
std::optional<std::uint32_t> unknown_of(const model_config& model, const token_table& tokens) {
  if (!model.has("unk_token")) return std::nullopt;
  const std::string name = model.text("unk_token", "");
  const auto id = tokens.find(name);
  if (!id) model.refuse("unk_token", fmt::format("{} is not in the vocabulary", in_quotes(name)));
  return id;
}

bpe_rules read_bpe(const model_config& model, const token_table& tokens) {
  model.require("continuing_subword_prefix", "");
  model.require("end_of_word_suffix", "");
  if (model.real("dropout", 0) != 0) model.refuse("dropout", "merges that are left out at random are not supported");
  if (!model.has("merges")) model.refuse("merges", "is missing");
  bpe_rules rules{.merges = read_merges(model.content().at("merges"), tokens, model.file())};
  rules.ignore_merges = model.boolean("ignore_merges", false);
  rules.fuse_unknown = model.boolean("fuse_unk", false);
  rules.unknown = unknown_of(model, tokens);
  return rules;
}

wordpiece_rules read_wordpiece(const model_config& file, const model_config& model, const token_table& tokens) {
  const auto unknown = unknown_of(model, tokens);
  if (!unknown) model.refuse("unk_token", "is missing");
  const std::int64_t longest = model.integer("max_input_chars_per_word", 100);
  if (longest < 0) model.refuse("max_input_chars_per_word", fmt::format("{} is negative", longest));
  wordpiece_rules rules{.unknown = *unknown, .prefix = model.text("continuing_subword_prefix", "##")};
  rules.longest_word = static_cast<std::size_t>(longest);
  require_bert_words(file);
  read_wordpiece_decoder(file, rules);
  return rules;
}

/// In an old file the type is missing and follows from the other keys.
std::string type_of_model(const model_config& model) {
  return model.text("type", model.has("merges") ? "BPE" : "WordPiece");
}

using opened = std::shared_ptr<file_tokenizer>;

opened open_byte_level(const model_config& file, const model_config& model, tokenizer_parts parts) {
  if (model.boolean("byte_fallback", false))
    model.refuse("byte_fallback",
                 fmt::format("true: a byte-level BPE with tokens of bytes is not supported{}", ids_instead));
  bpe_rules rules = read_bpe(model, parts.tokens);
  rules.words = read_byte_level_words(file);
  require_byte_level_decoder(file);
  return std::make_shared<byte_level_bpe>(std::move(parts), std::move(rules));
}

opened open_bpe(const model_config& file, const model_config& model, tokenizer_parts parts) {
  if (is_byte_level(file)) return open_byte_level(file, model, std::move(parts));
  piece_bpe_rules rules = read_piece_bpe(file, read_bpe(model, parts.tokens));
  rules.byte_fallback = model.boolean("byte_fallback", false);
  return std::make_shared<piece_bpe>(std::move(parts), std::move(rules));
}

opened open_wordpiece(const model_config& file, const model_config& model, tokenizer_parts parts) {
  wordpiece_rules rules = read_wordpiece(file, model, parts.tokens);
  return std::make_shared<wordpiece>(std::move(parts), std::move(rules));
}

opened open_unigram(const model_config& file, const model_config& model, tokenizer_parts parts) {
  return std::make_shared<unigram>(std::move(parts), read_unigram(file, model));
}

/// A type of model.
struct model_kind {
  token_table (*vocabulary)(const model_config& model);
  opened (*open)(const model_config& file, const model_config& model, tokenizer_parts parts);
};

token_table read_table(const model_config& model) {
  return read_vocabulary(model.content().at("vocab"), model.file(), "model.vocab");
}

model_kind kind_of(const model_config& model) {
  const std::string type = type_of_model(model);
  if (type == "BPE") return {&read_table, &open_bpe};
  if (type == "WordPiece") return {&read_table, &open_wordpiece};
  if (type == "Unigram") return {&read_scored_vocabulary, &open_unigram};
  model.refuse("type",
               fmt::format("{} is not supported; BPE, Unigram and WordPiece are{}", in_quotes(type), ids_instead));
}

}  // namespace

std::shared_ptr<const tokenizer> open_tokenizer_json(const std::filesystem::path& path,
                                                     const std::vector<std::string>& added) {
  tokenizer_source source;
  const model_config file = source.object(path);
  const auto model = file.table("model");
  if (!model) file.refuse("model", "is missing");
  const model_kind kind = kind_of(*model);
  if (!model->has("vocab")) model->refuse("vocab", "is missing");
  tokenizer_parts parts{.file = path.string()};
  parts.tokens = kind.vocabulary(*model);
  add_from_list(file, parts);
  parts.normalize = read_normalizers(file);
  const tokenizer_settings settings = read_settings(source, path.parent_path());
  add_beside(settings, new_ids::next, parts);
  for (const std::string& token : added_anew(added, parts)) source.mark(token + "\n");
  parts.special = find_special(settings, [&](std::string_view name) { return find_token(parts, name); });
  read_post_processor(file, parts);
  parts.identity = source.identity();
  const special_tokens special = parts.special;
  const opened made = kind.open(file, *model, std::move(parts));
  made->add_notes(notes_beside_json(settings, file, special));
  return made;
}

}  // namespace hydra
