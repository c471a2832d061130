// Layers of every family on bf16 tensors.

#include "models/data/data_catalog.hpp"
#include "models/families/bert/bert.hpp"
#include "models/families/cnn/cnn.hpp"
#include "models/families/gemma/gemma.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/families/llama/llama.hpp"
#include "models/families/mlp/mlp.hpp"
#include "models/families/phi3/phi3.hpp"
#include "models/families/resnet/resnet.hpp"
#include "models/families/vit/vit.hpp"
#include "models/layers/linear.hpp"
#include "models/parameter_layout.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"
#include "tests/support/masked_samples.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

const auto texts = open_data({synthetic_language{.symbols = 11, .order = 1, .tokens = 400, .validation_tokens = 0}}, 6);
const auto pictures =
    open_data({synthetic_classes{.shape = {3, 8, 8}, .classes = 5, .samples = 8, .validation_samples = 0}}, 0);
const auto features =
    open_data({synthetic_classes{.features = 7, .classes = 5, .samples = 8, .validation_samples = 0}}, 0);

chain chain_of(const std::string& family) {
  const masked_samples masked{masked_samples_options{}};
  if (family == "mlp") return mlp({.layers = 3, .width = 16, .dropout = 0.1}).build(*features);
  if (family == "gpt2")
    return gpt2({.layers = 2, .width = 16, .heads = 2, .context = 6, .dropout = 0.1, .attention_dropout = 0.1})
        .build(*texts);
  if (family == "llama")
    return llama({.layers = 2, .width = 16, .heads = 4, .kv_heads = 2, .hidden = 24, .context = 6, .qk_norm = true})
        .build(*texts);
  if (family == "gemma")
    return gemma({.layers = 2,
                  .width = 16,
                  .heads = 4,
                  .hidden = 24,
                  .context = 6,
                  .window = 3,
                  .score_cap = 2,
                  .logit_cap = 2})
        .build(*texts);
  if (family == "phi3")
    return phi3({.layers = 2, .width = 16, .heads = 4, .hidden = 24, .context = 6, .rotated = 2}).build(*texts);
  if (family == "bert")
    return bert({.layers = 2, .width = 16, .heads = 2, .context = 6, .vocabulary = 11, .head = bert_head::masked_lm})
        .build(masked);
  if (family == "vit") return vit({.layers = 2, .width = 16, .heads = 2, .patch = 4, .dropout = 0.1}).build(*pictures);
  return cnn({.stages = 2, .blocks = 1, .width = 4}).build(*pictures);
}

at::Tensor input_of(const chain& c) {
  const tensor_spec spec = batched(c.sample_input(), 2);
  return spec.type == element::i64 ? random_ids(spec.shape, 2, 1) : random_tensor(spec.shape, 1);
}

/// Outputs of all layers.
std::vector<at::Tensor> outputs_of(const chain& c, at::Tensor x) {
  std::vector<at::Tensor> all;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const parameter_layout layout{c, i, i + 1};
    at::Tensor flat = zeros({static_cast<std::int64_t>(layout.elements())});
    layout.initialise(values(flat), c, 1);
    if (layout.type() == element::bf16) flat = flat.to(at::kBFloat16);
    x = c.forward(i, layout.views(flat, i), x, {.seed = 1, .layer = static_cast<std::uint32_t>(i)});
    all.push_back(x);
  }
  return all;
}

/// Returns fp32 whatever its input.
struct widening final : layer {
  std::vector<parameter_spec> parameters() const override { return {}; }
  tensor_spec output(const tensor_spec& input) const override { return input; }
  at::Tensor forward(std::span<const at::Tensor>, const at::Tensor& x, const layer_context&) const override {
    return x.to(at::kFloat);
  }
  std::string signature() const override { return "widening"; }
};

}  // namespace

TEST_CASE("every layer of every family returns bf16 for bf16, near its result in fp32") {
  const std::string family = GENERATE("mlp", "gpt2", "llama", "gemma", "phi3", "bert", "vit", "cnn");
  chain c = chain_of(family);
  const at::Tensor x = input_of(c);
  const auto exact = outputs_of(c, x);
  c.compute_in(precision::bf16);
  const auto coarse = outputs_of(c, x);
  const auto specs = c.outputs(2);
  for (std::size_t i = 0; i < c.size(); ++i) {
    INFO(family << " layer " << i);
    CHECK(specs[i].type == element::bf16);
    CHECK(coarse[i].scalar_type() == at::kBFloat16);
    CHECK(coarse[i].sizes().vec() == specs[i].shape);
    const double size = number(exact[i].abs().max().to(at::kDouble));
    CHECK(distance(coarse[i].to(at::kFloat), exact[i]) < 0.05 * (1 + size));
  }
}

TEST_CASE("in bf16 a text of padding only has finite values") {
  chain c = chain_of("bert");
  c.compute_in(precision::bf16);
  at::Tensor x = input_of(c);
  x.select(1, 2).zero_();
  CHECK(number(outputs_of(c, x).back().isfinite().all().to(at::kDouble)) == 1);
}

TEST_CASE("a chain computes in fp32 by default, and rounds nothing then") {
  const chain c = chain_of("mlp");
  CHECK(c.numbers() == precision::fp32);
  CHECK(c.outputs(2).back().type == element::f32);
  CHECK(outputs_of(c, input_of(c)).back().scalar_type() == at::kFloat);
}

TEST_CASE("a layer that returns fp32 for bf16 is refused by name") {
  chain c{"test", {{4}, element::f32}, cross_entropy()};
  c.add("odd.", std::make_shared<widening>());
  CHECK_NOTHROW(c.forward(0, {}, zeros({2, 4}), {}));
  c.compute_in(precision::bf16);
  CHECK_THROWS_WITH(c.forward(0, {}, zeros({2, 4}), {}),
                    Contains("layer 0 (\"odd.\")") && Contains("Float") && Contains("bf16"));
}

TEST_CASE("layers get shapes in f32 from a chain that computes in bf16") {
  chain c{"test", {{4}, element::f32}, cross_entropy()};
  c.add("a.", std::make_shared<linear>(linear_options{.in = 4, .out = 6}));
  c.add("b.", std::make_shared<linear>(linear_options{.in = 6, .out = 2}));
  c.compute_in(precision::bf16);
  CHECK_NOTHROW(c.validate());
  CHECK(c.outputs(3)[1] == tensor_spec{{3, 2}, element::bf16});
  CHECK(c.sample_input().type == element::f32);
}

TEST_CASE("a chain with running averages cannot be rounded to bf16") {
  chain c = resnet({.depths = {1}, .hidden_sizes = {8}, .embedding_size = 4, .layer_type = "basic"}).build(*pictures);
  CHECK_NOTHROW(c.validate());
  c.compute_in(precision::bf16);
  CHECK_THROWS_WITH(c.validate(), Contains("running averages") && Contains("without batch norm"));
}

TEST_CASE("gradients of a chain are rounded only if its parameters are") {
  chain c = chain_of("mlp");
  CHECK_NOTHROW(c.compute_in(precision::bf16, precision::bf16).validate());
  CHECK(c.gradients() == precision::bf16);
  c.compute_in(precision::fp32, precision::bf16);
  CHECK_THROWS_WITH(c.validate(), Contains("\"mlp\" has gradients in bf16 of parameters in fp32"));
}

TEST_CASE("bf16 parameters start at multiples of 256 bytes; masters and gradients have their offsets") {
  chain c = chain_of("mlp");
  c.compute_in(precision::bf16);
  const parameter_layout layout{c, 0, c.size()};
  for (const placed_parameter& p : layout.parameters()) CHECK(p.offset % 128 == 0);
  CHECK(layout.elements() % 128 == 0);
  CHECK(layout.bytes() == byte_count{layout.elements() * 4});
  CHECK(layout.device_bytes() == byte_count{layout.elements() * 2});
}
