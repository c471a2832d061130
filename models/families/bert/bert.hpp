#pragma once
// BERT: an encoder of masked texts with learned positions and post-LN blocks (Devlin et al. 2018).

#include "models/families/catalog.hpp"
#include "models/layers/activation.hpp"

#include <string_view>

namespace hydra {

/// The task of the head, and so the form of samples (sample_form::masked, ::labelled).
enum class bert_head : std::uint8_t {
  masked_lm,      ///< predicts the tokens that were masked
  classification  ///< predicts the class of a text
};

struct bert_options {
  std::int64_t layers = 0;  ///< blocks
  std::int64_t width = 0;
  std::int64_t heads = 0;    ///< divides width
  std::int64_t hidden = 0;   ///< units of the feed-forward networks; 0: 4 * width
  std::int64_t context = 0;  ///< tokens per sample
  std::int64_t positions = 0;   ///< number of position vectors, at least context; 0: context
  std::int64_t vocabulary = 0;  ///< 0: from the data, which have it for masked_lm only
  std::int64_t types = 2;       ///< of segments
  std::int64_t padding = -1;    ///< id whose vector is trained by the head only; negative: none
  activation act = activation::gelu;
  double dropout = 0;              ///< embeddings, attention output and feed-forward output
  double attention_dropout = 0;    ///< the attention's probabilities
  double classifier_dropout = -1;  ///< before the classifier; below 0: as dropout
  double eps = 1e-12;              ///< of the norms
  bert_head head = bert_head::masked_lm;
};

/// Layer 0 = embeddings, 1..n = whole blocks, n+1 = head. Samples are i64[3, tokens] (ids, segments, mask); from the
/// embeddings to the head the mask is the last column of the activations (layers/masked_tokens.hpp). Names as in
/// Hugging Face's checkpoints: bert.embeddings..., bert.encoder.layer.{i}..., and cls.predictions... (without a
/// pooler), or bert.pooler.dense... and classifier....
chain_description bert(const bert_options& options);

/// "masked-lm", "classification". Throws fault_error{bad_input} for others; `who` is the start of the message.
bert_head bert_head_named(std::string_view who, std::string_view name);

}  // namespace hydra
