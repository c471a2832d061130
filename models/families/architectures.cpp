#include "models/families/architecture.hpp"
#include "models/families/bert/bert_config.hpp"
#include "models/families/gemma/gemma_config.hpp"
#include "models/families/gpt2/gpt2_config.hpp"
#include "models/families/llama/llama_config.hpp"
#include "models/families/phi3/phi3_config.hpp"
#include "models/families/resnet/resnet_config.hpp"
#include "models/families/vit/vit_config.hpp"

namespace hydra {

const std::vector<architecture>& architectures() {
  static const std::vector<architecture> all{
      {"BertForMaskedLM", "bert", bert_from_config},
      {"BertForPreTraining", "bert", bert_from_config},
      {"BertForSequenceClassification", "bert", bert_from_config},
      {"BertModel", "bert", bert_from_config},
      {"GPT2LMHeadModel", "gpt2", gpt2_from_config},
      {"GPT2Model", "gpt2", gpt2_from_config},
      {"Gemma2ForCausalLM", "gemma2", gemma2_from_config},
      {"Gemma3ForCausalLM", "gemma3_text", gemma3_from_config},
      {"LlamaForCausalLM", "llama", llama_from_config},
      {"MistralForCausalLM", "mistral", mistral_from_config},
      {"Phi3ForCausalLM", "phi3", phi3_from_config},
      {"Qwen2ForCausalLM", "qwen2", qwen2_from_config},
      {"Qwen3ForCausalLM", "qwen3", qwen3_from_config},
      {"ResNetForImageClassification", "resnet", resnet_from_config},
      {"ViTForImageClassification", "vit", vit_from_config},
  };
  return all;
}

}  // namespace hydra
