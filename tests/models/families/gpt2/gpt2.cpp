#include "models/families/gpt2/gpt2.hpp"

#include "models/data/data_catalog.hpp"
#include "models/parameter_layout.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

chain build(const gpt2_options& options, std::int64_t symbols) {
  return gpt2(options).build(*open_data(
      {synthetic_language{.symbols = symbols, .order = 1, .tokens = 2000, .validation_tokens = 0}}, options.context));
}

const gpt2_options small{.layers = 2, .width = 8, .heads = 2, .context = 6};

std::vector<at::Tensor> leaves_of(const chain& model, std::size_t i, const at::Tensor& flat) {
  std::vector<at::Tensor> views = parameter_layout{model, 0, model.size()}.views(flat, i);
  for (at::Tensor& v : views) v = v.detach().set_requires_grad(true);
  return views;
}

}  // namespace

TEST_CASE("gpt2 at OpenAI's sizes has OpenAI's number of parameters") {
  const gpt2_options original{.layers = 12, .width = 768, .heads = 12, .context = 1024};
  CHECK(build(original, 50257).parameter_count() == 124439808);
}

TEST_CASE("gpt2 names its parameters as Hugging Face does") {
  const chain model = build(small, 9);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < model.size(); ++i)
    for (const parameter_spec& p : model.parameters(i)) names.push_back(p.name);
  REQUIRE(names.size() == 2 + 2 * 12 + 3);
  CHECK(names[0] == "wte.weight");
  CHECK(names[1] == "wpe.weight");
  CHECK(names[2] == "h.0.ln_1.weight");
  CHECK(names[16] == "h.1.attn.c_attn.weight");
  CHECK(names[25] == "h.1.mlp.c_proj.bias");
  CHECK(names[28] == "lm_head.weight");
}

TEST_CASE("gpt2 ties its head by default and not with tied = false") {
  gpt2_options untied = small;
  untied.tied = false;
  CHECK(build(small, 9).parameters(3)[2].tied_to == "wte.weight");
  CHECK(build(untied, 9).parameters(3)[2].tied_to.empty());
  CHECK(build(untied, 9).parameter_count() == build(small, 9).parameter_count() + 9 * 8);
}

TEST_CASE("gpt2 takes its vocabulary from the data or a larger one from the options") {
  gpt2_options wide = small;
  wide.vocabulary = 16;
  CHECK(build(wide, 9).outputs(1).back().shape.back() == 16);
  wide.vocabulary = 8;
  CHECK_THROWS_WITH(build(wide, 9), Contains("vocabulary is 8") && Contains("up to 8"));
}

TEST_CASE("gpt2 refuses data that are not tokens and samples beyond its context") {
  CHECK_THROWS_WITH(gpt2(small).build(*open_data({synthetic_classes{}}, 0)), Contains("takes texts"));
  const auto long_samples = open_data({synthetic_language{.tokens = 100, .validation_tokens = 0}}, 7);
  CHECK_THROWS_WITH(gpt2(small).build(*long_samples), Contains("7 tokens"));
}

TEST_CASE("the gradients of owner and tied copy add up to those of one shared weight, bit for bit") {
  const chain model = build(small, 9);
  const parameter_layout layout{model, 0, model.size()};
  const at::Tensor flat = zeros({static_cast<std::int64_t>(layout.elements())});
  layout.initialise(values(flat), model, 1);
  const at::Tensor ids = random_ids({2, 6}, 9, 1), targets = random_ids({2, 6}, 9, 2);
  const auto train = [&](bool shared) {
    std::vector<at::Tensor> first = leaves_of(model, 0, flat), last = leaves_of(model, 3, flat);
    if (shared) last[2] = first[0];
    at::Tensor x = model.at(0).body->forward(first, ids, {});
    for (std::size_t i : {1, 2}) x = model.at(i).body->forward(leaves_of(model, i, flat), x, {});
    model.objective().sum(model.at(3).body->forward(last, x, {}), targets).backward();
    return shared ? first[0].grad() : first[0].grad().add(last[2].grad());
  };
  CHECK(same_bits(train(true), train(false)));
}
