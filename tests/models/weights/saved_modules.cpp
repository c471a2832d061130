#include "models/weights/saved_modules.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/llama/llama.hpp"
#include "models/lora.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

namespace {

using saved_names = std::vector<std::string>;

chain two_layers() {
  const auto data = open_data({synthetic_language{.symbols = 8, .order = 1, .tokens = 200, .validation_tokens = 0}}, 6);
  return llama({.layers = 2, .width = 4, .heads = 2, .hidden = 4, .context = 6}).build(*data);
}

}  // namespace

TEST_CASE("names that PEFT would read as more modules are written in full, and mean the same when they are read") {
  const chain adapted =
      adapt(two_layers(), {.rank = 1, .targets = {"q_proj"}, .also_train = {"norm", "1.mlp", "lm_head"}});
  const saved_names written = written_saved_modules(adapted, adapter_of(adapted)->also_train);
  CHECK(written == saved_names{"model.norm", "1.mlp", "lm_head"});
  CHECK(read_saved_modules(two_layers(), written) == written);
}

TEST_CASE("names that PEFT reads as more modules than Hydra does are read in full") {
  CHECK(read_saved_modules(two_layers(), {"norm", "mlp", "score"}) ==
        saved_names{"model.layers.0.input_layernorm", "model.layers.0.post_attention_layernorm",
                    "model.layers.1.input_layernorm", "model.layers.1.post_attention_layernorm", "model.norm", "mlp",
                    "score"});
}
