#include "models/families/llama/llama.hpp"

#include "models/data/data_catalog.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace hydra;
using Catch::Matchers::Contains;

namespace llama_test {

chain build(const llama_options& options, std::int64_t symbols) {
  return llama(options).build(*open_data(
      {synthetic_language{.symbols = symbols, .order = 1, .tokens = 10000, .validation_tokens = 0}}, options.context));
}

std::vector<std::string> names_of(const chain& model) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < model.size(); ++i)
    for (const parameter_spec& p : model.parameters(i)) names.push_back(p.name);
  return names;
}

const llama_options small{.layers = 2, .width = 8, .heads = 2, .hidden = 12, .context = 6};

TEST_CASE("llama at Meta's sizes has Meta's number of parameters") {
  const llama_options llama2{
      .layers = 32, .width = 4096, .heads = 32, .hidden = 11008, .context = 4096, .vocabulary = 32000};
  CHECK(build(llama2, 9).parameter_count() == 6738415616);
  const llama_options llama3{.layers = 16,
                             .width = 2048,
                             .heads = 32,
                             .kv_heads = 8,
                             .hidden = 8192,
                             .context = 8192,
                             .vocabulary = 128256,
                             .tied = true};
  CHECK(build(llama3, 9).parameter_count() == 1235814400);
}

TEST_CASE("llama names its parameters as Hugging Face does") {
  llama_options all = small;
  all.qkv_bias = all.output_bias = all.mlp_bias = all.qk_norm = true;
  const auto plain = names_of(build(small, 9)), full = names_of(build(all, 9));
  REQUIRE(plain.size() == 1 + 2 * 9 + 2);
  CHECK(plain[0] == "model.embed_tokens.weight");
  CHECK(plain[1] == "model.layers.0.input_layernorm.weight");
  CHECK(plain[11] == "model.layers.1.self_attn.q_proj.weight");
  CHECK(plain[19] == "model.norm.weight");
  CHECK(plain[20] == "lm_head.weight");
  REQUIRE(full.size() == 1 + 2 * 18 + 2);
  for (const char* name : {"self_attn.v_proj.bias", "self_attn.o_proj.bias", "self_attn.q_norm.weight",
                           "self_attn.k_norm.weight", "mlp.down_proj.bias"})
    CHECK(std::ranges::count(full, "model.layers.1." + std::string{name}) == 1);
}

TEST_CASE("llama ties its head only with tied = true") {
  llama_options tied = small;
  tied.tied = true;
  CHECK(build(small, 9).parameters(3)[1].tied_to.empty());
  CHECK(build(tied, 9).parameters(3)[1].tied_to == "model.embed_tokens.weight");
}

TEST_CASE("llama takes its vocabulary from the data or a larger one from the options") {
  llama_options wide = small;
  wide.vocabulary = 16;
  CHECK(build(wide, 9).outputs(1).back().shape.back() == 16);
  wide.vocabulary = 8;
  CHECK_THROWS_WITH(build(wide, 9), Contains("vocabulary is 8") && Contains("up to 8"));
}

TEST_CASE("llama refuses impossible options before it knows the data") {
  llama_options wrong = small;
  wrong.heads = 3;
  CHECK_THROWS_WITH(llama(wrong), Contains("3 heads do not divide width 8") && Contains("head_size"));
  wrong.head_size = 4;
  CHECK_NOTHROW(llama(wrong));
  wrong.kv_heads = 2;
  CHECK_THROWS_WITH(llama(wrong), Contains("2 key-value heads do not divide 3 heads"));
  CHECK_THROWS_WITH(llama({.layers = 1, .width = 8, .heads = 2, .context = 6}), Contains("hidden is 0"));
  wrong = small;
  wrong.full_layers = {1};
  CHECK_THROWS_WITH(llama(wrong), Contains("give window"));
  wrong.window = 3;
  CHECK_NOTHROW(llama(wrong));
  wrong.full_layers = {1, 2};
  CHECK_THROWS_WITH(llama(wrong), Contains("full_layers has 2") && Contains("0 to 1"));
  wrong.full_layers = {1, 1};
  CHECK_THROWS_WITH(llama(wrong), Contains("full_layers is 1,1"));
  wrong = small;
  wrong.eps = 0;
  CHECK_THROWS_WITH(llama(wrong), Contains("eps is 0"));
}

TEST_CASE("llama refuses data that are not tokens and samples beyond its context") {
  CHECK_THROWS_WITH(llama(small).build(*open_data({synthetic_classes{}}, 0)), Contains("takes texts"));
  const auto long_samples = open_data({synthetic_language{.tokens = 100, .validation_tokens = 0}}, 7);
  CHECK_THROWS_WITH(llama(small).build(*long_samples), Contains("7 tokens"));
}

}  // namespace llama_test
