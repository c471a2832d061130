#include "models/families/config_keys.hpp"

#include <set>
#include <string_view>

namespace hydra {
namespace {

/// transformers' keys without an effect on the function that is trained or on its gradients.
const std::set<std::string_view>& without_effect() {
  static const std::set<std::string_view> all{
      // where it comes from, and what a program does with it
      "_name_or_path", "_commit_hash", "_attn_implementation", "_attn_implementation_autoset", "attn_implementation",
      "architectures", "dtype", "experts_implementation", "finetuning_task", "name_or_path", "tokenizer_class",
      "torch_dtype", "torchscript", "transformers_version", "unsloth_fixed", "unsloth_version", "use_bfloat16",
      // tokens, which the tokenizer's files decide; embeddings with padding ask for theirs
      "bos_token_id", "decoder_start_token_id", "eos_token_id", "image_token_id", "pad_token_id", "sep_token_id",
      // how a new model begins
      "initializer_factor", "initializer_range",
      // what a forward computation returns or keeps, and in which parts it computes
      "cache_implementation", "chunk_size_feed_forward", "gradient_checkpointing", "output_attentions",
      "output_hidden_states", "output_past", "output_router_logits", "pretraining_tp", "return_dict", "use_cache",
      // encoders with decoders, which Hydra has none of
      "cross_attention_hidden_size", "is_encoder_decoder", "tie_encoder_decoder",
      // classes and tasks of heads that the model does not have
      "problem_type", "task_specific_params", "summary_activation", "summary_first_dropout", "summary_proj_to_labels",
      "summary_type", "summary_use_proj", "directionality", "pooler_fc_size", "pooler_num_attention_heads",
      "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type", "encoder_stride", "pooler_output_size",
      "pooler_act", "out_features", "out_indices", "stage_names", "num_labels", "id2label", "label2id",
      // generation
      "bad_words_ids", "begin_suppress_tokens", "diversity_penalty", "do_sample", "early_stopping",
      "encoder_no_repeat_ngram_size", "exponential_decay_length_penalty", "forced_bos_token_id", "forced_eos_token_id",
      "length_penalty", "max_length", "max_new_tokens", "min_length", "no_repeat_ngram_size", "num_beam_groups",
      "num_beams", "num_return_sequences", "output_scores", "prefix", "remove_invalid_values", "repetition_penalty",
      "return_dict_in_generate", "suppress_tokens", "temperature", "top_k", "top_p", "typical_p",
      // an older name of another key, with the same value
      "n_ctx"};
  return all;
}

}  // namespace

std::vector<std::string> unread_keys(const model_config& config) { return key_notes(config, without_effect()); }

}  // namespace hydra
