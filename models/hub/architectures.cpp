#include "models/hub/architecture.hpp"
#include "models/hub/bert_config.hpp"
#include "models/hub/gpt2_config.hpp"
#include "models/hub/llama_config.hpp"
#include "models/hub/resnet_config.hpp"
#include "models/hub/vit_config.hpp"

namespace hydra {

const std::vector<architecture>& architectures() {
  static const std::vector<architecture> all{
      {"BertForMaskedLM", bert_from_config},
      {"BertForPreTraining", bert_from_config},
      {"BertForSequenceClassification", bert_from_config},
      {"BertModel", bert_from_config},
      {"GPT2LMHeadModel", gpt2_from_config},
      {"GPT2Model", gpt2_from_config},
      {"LlamaForCausalLM", llama_from_config},
      {"MistralForCausalLM", mistral_from_config},
      {"Qwen2ForCausalLM", qwen2_from_config},
      {"Qwen3ForCausalLM", qwen3_from_config},
      {"ResNetForImageClassification", resnet_from_config},
      {"ViTForImageClassification", vit_from_config},
  };
  return all;
}

}  // namespace hydra
