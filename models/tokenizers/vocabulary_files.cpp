#include "models/tokenizers/file_openers.hpp"

#include "models/tokenizers/added_reader.hpp"
#include "models/tokenizers/byte_level_bpe.hpp"
#include "models/tokenizers/settings_notes.hpp"
#include "models/tokenizers/special_names.hpp"
#include "models/tokenizers/tokenizer_class.hpp"
#include "models/tokenizers/tokenizer_source.hpp"
#include "models/tokenizers/vocabulary_reader.hpp"
#include "models/tokenizers/wordpiece.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace hydra {

namespace {

namespace fs = std::filesystem;

// transformers' classes with the words that are made here.
constexpr std::array<std::string_view, 2> gpt2_classes{"CodeGenTokenizer", "GPT2Tokenizer"};
/// Of these a text begins with the token cls_token and ends with sep_token.
constexpr std::array<std::string_view, 6> roberta_classes{
    "BartTokenizer", "DebertaTokenizer", "LEDTokenizer", "LongformerTokenizer", "MvpTokenizer", "RobertaTokenizer"};
constexpr std::array<std::string_view, 13> bert_classes{
    "BertTokenizer",       "ConvBertTokenizer",  "DPRContextEncoderTokenizer", "DPRQuestionEncoderTokenizer",
    "DPRReaderTokenizer",  "DistilBertTokenizer", "ElectraTokenizer",          "FunnelTokenizer",
    "LayoutLMTokenizer",   "LxmertTokenizer",    "MPNetTokenizer",             "MobileBertTokenizer",
    "SqueezeBertTokenizer"};

/// Reads the files next to the vocabulary into `parts`.
tokenizer_settings read_beside(tokenizer_source& source, const fs::path& folder, tokenizer_parts& parts) {
  tokenizer_settings settings = read_settings(source, folder);
  add_beside(settings, new_ids::as_written, parts);
  parts.special = find_special(settings, [&](std::string_view name) { return find_token(parts, name); });
  recognise(parts.special, parts);
  return settings;
}

bert_normalizer_options bert_options(const tokenizer_settings& settings) {
  bert_normalizer_options o;
  o.lowercase = settings.flag("do_lower_case", true);
  o.strip_accents = settings.flag("strip_accents", o.lowercase);
  o.handle_chinese_chars = settings.flag("tokenize_chinese_chars", true);
  return o;
}

/// [CLS] text [SEP], whatever the settings say.
void add_bert_frame(special_tokens& special) {
  if (special.classify) special.before = {*special.classify};
  if (special.separate) special.after = {*special.separate};
}

/// The tokens of the class, where no settings name others.
void name_roberta_marks(const tokenizer_settings& settings, tokenizer_parts& parts) {
  if (!settings.deciding("cls_token")) parts.special.classify = find_token(parts, "<s>");
  if (!settings.deciding("sep_token")) parts.special.separate = find_token(parts, "</s>");
}

/// The class, which config.json may name, decides ids here.
void add_bpe_frame(tokenizer_source& source, const tokenizer_settings& settings, tokenizer_parts& parts) {
  const std::string name = class_of_tokenizer(settings);
  if (std::ranges::find(roberta_classes, name) == roberta_classes.end()) {
    require_class(settings, parts.file, gpt2_classes);
    return add_named_frame(settings, parts.special);
  }
  const bool as_bert = name == "DebertaTokenizer";
  if (!as_bert) name_roberta_marks(settings, parts);
  source.mark(as_bert ? "[CLS] text [SEP]" : "<s> text </s>");
  add_bert_frame(parts.special);
}

pre_tokenizer gpt2_words(bool prefix_space) {
  using kind = pre_tokenizer_step::kind;
  std::vector<pre_tokenizer_step> steps;
  if (prefix_space) steps.push_back({kind::prefix_space});
  steps.push_back({kind::isolate, split_pattern{split_pattern::gpt2()}});
  return pre_tokenizer{std::move(steps)};
}

}  // namespace

std::shared_ptr<const tokenizer> open_bpe_files(const fs::path& vocab, const fs::path& merges) {
  tokenizer_source source;
  tokenizer_parts parts{.file = vocab.string()};
  const model_config words = source.object(vocab);
  parts.tokens = read_vocabulary(words.content(), words.file(), "vocabulary");
  bpe_rules rules{.merges = read_merge_lines(source.text(merges), parts.tokens, merges.string())};
  const tokenizer_settings settings = read_beside(source, vocab.parent_path(), parts);
  add_bpe_frame(source, settings, parts);
  rules.words = gpt2_words(settings.flag("add_prefix_space", false));
  rules.unknown = parts.special.unknown;
  add_notes(settings, parts.notes);
  parts.identity = source.identity();
  return std::make_shared<byte_level_bpe>(std::move(parts), std::move(rules));
}

std::shared_ptr<const tokenizer> open_wordpiece_file(const fs::path& vocab) {
  tokenizer_source source;
  tokenizer_parts parts{.file = vocab.string()};
  parts.tokens = read_vocabulary_lines(source.text(vocab), vocab.string());
  const tokenizer_settings settings = read_beside(source, vocab.parent_path(), parts);
  require_class(settings, parts.file, bert_classes);
  if (!parts.special.unknown) refuse_file(vocab.string(), "[UNK]", "there is no token for unknown words");
  parts.normalize = {std::make_shared<bert_normalizer>(bert_options(settings))};
  const wordpiece_rules rules{.unknown = *parts.special.unknown};
  add_bert_frame(parts.special);
  add_notes(settings, parts.notes);
  parts.identity = source.identity();
  return std::make_shared<wordpiece>(std::move(parts), rules);
}

}  // namespace hydra
