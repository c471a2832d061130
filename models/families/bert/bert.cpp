#include "models/families/bert/bert.hpp"

#include "models/families/bert/bert_config.hpp"
#include "models/families/sample_kind.hpp"
#include "models/families/vocabulary.hpp"
#include "models/layers/bert_block.hpp"
#include "models/layers/bert_classifier.hpp"
#include "models/layers/bert_embedding.hpp"
#include "models/layers/bert_masked_lm_head.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/encoder_attention.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

namespace hydra {
namespace {

bool masked_lm(const bert_options& options) { return options.head == bert_head::masked_lm; }

void check(const bert_options& options) {
  require_positive("bert: layers", options.layers);
  require_encoder_options("bert", options);
  require_positive("bert: context", options.context);
  require_positive("bert: types", options.types);
  require_dropout("bert: classifier dropout", options.classifier_dropout);
  if (options.vocabulary != 0) require_positive("bert: vocabulary", options.vocabulary);
  if (options.positions < options.context)
    refuse(fmt::format("bert: context is {}; there are {} positions", options.context, options.positions));
}

bert_options completed(bert_options options) {
  if (options.hidden == 0) options.hidden = 4 * options.width;
  if (options.positions == 0) options.positions = options.context;
  if (options.classifier_dropout < 0) options.classifier_dropout = options.dropout;
  return options;
}

void check_samples(const bert_options& options, const data_source& data) {
  require_kind("bert", data, sample_kind::texts);
  const tensor_spec input = data.sample_input(), target = data.sample_target();
  const bool texts = input.type == element::i64 && input.shape.size() == 2 && input.shape[0] == 3;
  const std::size_t dimensions = masked_lm(options) ? 1 : 0;
  if (!texts || target.type != element::i64 || target.shape.size() != dimensions)
    refuse(
        fmt::format("bert on {}: a sample is {} with target {}; it wants texts of 3 rows (ids, segments, mask) with {}",
                    data.describe(), to_string(input), to_string(target),
                    masked_lm(options) ? "a target for each token" : "one class"));
}

std::int64_t vocabulary_for(const bert_options& options, const data_source& data) {
  if (!masked_lm(options)) {
    if (options.vocabulary != 0) {
      require_ids("bert", options.vocabulary, data.vocabulary(), data);
      return options.vocabulary;
    }
    refuse(fmt::format("bert on {}: vocabulary is missing; set it to the number of the tokenizer's token ids",
                       data.describe()));
  }
  return vocabulary_for("bert", options.vocabulary, data);
}

void add_encoder(chain& result, const bert_options& options) {
  result.add("bert.embeddings.", std::make_shared<bert_embedding>(bert_embedding_options{
                                     .vocabulary = options.vocabulary,
                                     .positions = options.positions,
                                     .types = options.types,
                                     .width = options.width,
                                     .padding = options.padding,
                                     .dropout = options.dropout,
                                     .eps = options.eps}));
  const auto block = std::make_shared<bert_block>(bert_block_options{.width = options.width,
                                                                     .heads = options.heads,
                                                                     .hidden = options.hidden,
                                                                     .act = options.act,
                                                                     .dropout = options.dropout,
                                                                     .attention_dropout = options.attention_dropout,
                                                                     .eps = options.eps});
  for (std::int64_t i = 0; i < options.layers; ++i) result.add(fmt::format("bert.encoder.layer.{}.", i), block);
}

void add_head(chain& result, const bert_options& options, std::int64_t classes) {
  if (masked_lm(options))
    result.add("cls.predictions.", std::make_shared<bert_masked_lm_head>(bert_masked_lm_head_options{
                                       .vocabulary = options.vocabulary,
                                       .width = options.width,
                                       .act = options.act,
                                       .eps = options.eps,
                                       .tied_to = "bert.embeddings.word_embeddings.weight"}));
  else
    result.add("", std::make_shared<bert_classifier>(bert_classifier_options{
                       .width = options.width, .classes = classes, .dropout = options.classifier_dropout}));
}

chain build_bert(bert_options options, const data_source& data) {
  check_samples(options, data);
  options.vocabulary = vocabulary_for(options, data);
  chain result{"bert", data.sample_input(), cross_entropy()};
  add_encoder(result, options);
  add_head(result, options, data.classes());
  result.publish_as({.config = bert_config_text(options, data), .stored_name = {}});
  result.validate();
  return result;
}

}  // namespace

chain_description bert(const bert_options& options) {
  const bert_options complete = completed(options);
  check(complete);
  return {"bert", complete.context, [complete](const data_source& data) { return build_bert(complete, data); },
          masked_lm(complete) ? sample_form::masked : sample_form::labelled};
}

bert_head bert_head_named(std::string_view who, std::string_view name) {
  if (name == "masked-lm") return bert_head::masked_lm;
  if (name == "classification") return bert_head::classification;
  refuse(fmt::format("{}: \"{}\" is not a head of bert; there are \"masked-lm\" and \"classification\"", who,
                     shown(name)));
}

}  // namespace hydra
