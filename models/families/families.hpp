#pragma once
// Rows of the catalogue: name, help and options of each family, one file each.

#include "models/families/catalog.hpp"

namespace hydra {

family bert_family();
family cnn_family();
family gemma_family();
family gpt2_family();
family llama_family();
family mlp_family();
family phi3_family();
family resnet_family();
family vit_family();

}  // namespace hydra
