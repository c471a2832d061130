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
      {"BertForMaskedLM", bert_from_config},
      {"BertForPreTraining", bert_from_config},
      {"BertForSequenceClassification", bert_from_config},
      {"BertModel", bert_from_config},
      {"GPT2LMHeadModel", gpt2_from_config},
      {"GPT2Model", gpt2_from_config},
      {"Gemma2ForCausalLM", gemma2_from_config},
      {"Gemma3ForCausalLM", gemma3_from_config},
      {"LlamaForCausalLM", llama_from_config},
      {"MistralForCausalLM", mistral_from_config},
      {"Phi3ForCausalLM", phi3_from_config},
      {"Qwen2ForCausalLM", qwen2_from_config},
      {"Qwen3ForCausalLM", qwen3_from_config},
      {"ResNetForImageClassification", resnet_from_config},
      {"ViTForImageClassification", vit_from_config},
  };
  return all;
}

}  // namespace hydra
