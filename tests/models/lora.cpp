#include "models/lora.hpp"

#include "models/adapted_layer.hpp"
#include "models/data/data_catalog.hpp"
#include "models/decode_memory.hpp"
#include "models/families/bert/bert.hpp"
#include "models/families/catalog.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/families/llama/llama.hpp"
#include "models/families/phi3/phi3.hpp"
#include "models/parameter_layout.hpp"
#include "models/weights/merged_values.hpp"
#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <ATen/core/Tensor.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <set>

namespace hydra::test {
namespace {

using Catch::Contains;

const data_source& text() {
  static const auto data = open_data({synthetic_language{.symbols = 9, .tokens = 100, .validation_tokens = 0}}, 6);
  return *data;
}

chain small_gpt2(bool tied = true) {
  return gpt2({.layers = 2, .width = 8, .heads = 2, .context = 6, .tied = tied}).build(text());
}

chain small_phi3() {
  return phi3({.layers = 2, .width = 8, .heads = 2, .kv_heads = 1, .hidden = 12, .context = 6}).build(text());
}

chain small_llama() {
  return llama({.layers = 2, .width = 8, .heads = 2, .kv_heads = 1, .hidden = 12, .context = 6}).build(text());
}

std::vector<std::string> trained_in(const chain& model) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < model.size(); ++i)
    for (const parameter_spec& p : model.parameters(i))
      if (!p.frozen) names.push_back(p.name);
  return names;
}

at::Tensor initial_values(const chain& model, const parameter_layout& layout) {
  const at::Tensor flat = zeros({static_cast<std::int64_t>(layout.elements())});
  layout.initialise(values(flat), model, 3);
  return flat;
}

/// All parameters in one buffer, moved away from their initial values.
struct flat_values {
  explicit flat_values(const chain& model) : layout{model, 0, model.size()} {
    tensor = initial_values(model, layout).add(random_tensor({static_cast<std::int64_t>(layout.elements())}, 5), 0.3);
  }
  std::span<const std::byte> of(const std::string& name) const {
    for (const placed_parameter& p : layout.parameters())
      if (p.name == name)
        return {static_cast<const std::byte*>(tensor.const_data_ptr()) + 4 * p.offset, 4 * p.elements};
    FAIL("no parameter " << name);
    return {};
  }
  parameter_layout layout;
  at::Tensor tensor;
};

at::Tensor output_of(const chain& model, const parameter_layout& layout, const at::Tensor& values, at::Tensor x,
                     const layer_context& context) {
  for (std::size_t i = 0; i < model.size(); ++i) {
    layer_context here = context;
    here.layer = static_cast<std::uint32_t>(i);
    x = model.forward(i, layout.views(values, i), x, here);
  }
  return x;
}

}  // namespace

TEST_CASE("an adapter has the names, shapes and initial values of PEFT's") {
  const chain c = adapt(small_gpt2(), {.rank = 3, .targets = {"c_attn", "mlp.c_proj"}});
  CHECK(trained_in(c) == std::vector<std::string>{"h.0.attn.c_attn.lora_A.weight", "h.0.attn.c_attn.lora_B.weight",
                                                  "h.0.mlp.c_proj.lora_A.weight", "h.0.mlp.c_proj.lora_B.weight",
                                                  "h.1.attn.c_attn.lora_A.weight", "h.1.attn.c_attn.lora_B.weight",
                                                  "h.1.mlp.c_proj.lora_A.weight", "h.1.mlp.c_proj.lora_B.weight"});
  const auto block = c.parameters(1);
  CHECK(block[12].shape == std::vector<std::int64_t>{3, 8});
  CHECK(block[13].shape == std::vector<std::int64_t>{24, 3});
  CHECK(block[14].shape == std::vector<std::int64_t>{3, 32});
  CHECK(block[15].shape == std::vector<std::int64_t>{8, 3});
  CHECK(block[14].initial.how == initial_value::kind::uniform);
  CHECK(block[14].initial.value == Approx(1 / std::sqrt(32)));
  CHECK(block[15].initial.value == 0);
  CHECK(adapted_modules(c).front() == "transformer.h.0.attn.c_attn");
}

TEST_CASE("all linear maps are all but the head, of untied models too") {
  CHECK(adapted_modules(adapt(small_gpt2(), {.rank = 1})).size() == 8);
  CHECK(adapted_modules(adapt(small_gpt2(false), {.rank = 1})).size() == 8);
  CHECK(adapted_modules(adapt(small_llama(), {.rank = 1})).size() == 14);
  CHECK(adapted_modules(adapt(small_llama(), {.rank = 1, .targets = {"all-linear", "lm_head"}})).size() == 15);
  CHECK(adapted_modules(adapt(small_phi3(), {.rank = 1, .targets = {"qkv_proj", "1.mlp.gate_up_proj"}})) ==
        std::vector<std::string>{"model.layers.0.self_attn.qkv_proj", "model.layers.1.self_attn.qkv_proj",
                                 "model.layers.1.mlp.gate_up_proj"});
  CHECK(adapted_modules(adapt(small_llama(), {.rank = 1, .targets = {"0.self_attn.q_proj"}})) ==
        std::vector<std::string>{"model.layers.0.self_attn.q_proj"});
}

TEST_CASE("an adapted layer conforms") {
  for (const double dropout : {0.0, 0.3})
    conforms(*adapt(small_llama(), {.rank = 2, .dropout = dropout}).at(1).body, random_tensor({2, 5, 8}, 9));
}

TEST_CASE("a module has a rank and an alpha of its own where the options say so") {
  const std::string q = "model.layers.1.self_attn.q_proj";
  const chain c = adapt(small_llama(), {.rank = 3, .alpha = 6, .targets = {"q_proj", "up_proj"}, .rank_of = {{q, 2}},
                                        .alpha_of = {{q, 10}}});
  const auto& first = dynamic_cast<const adapted_layer&>(*c.at(1).body);
  const auto& second = dynamic_cast<const adapted_layer&>(*c.at(2).body);
  REQUIRE(first.terms().size() == 2);
  for (const low_rank_term& t : first.terms()) CHECK(t.scale == 2);
  CHECK(second.terms()[0].scale == 5);
  CHECK(second.terms()[1].scale == 2);
  CHECK(second.parameters()[second.terms()[0].a].shape == std::vector<std::int64_t>{2, 8});
  CHECK(second.parameters()[second.terms()[0].b].shape == std::vector<std::int64_t>{8, 2});
  CHECK(second.parameters()[second.terms()[1].a].shape == std::vector<std::int64_t>{3, 8});
  CHECK_THAT(first.signature(), Contains(" lora rank=3 scale=2 dropout=0 on="));
  CHECK_THAT(second.signature(), Contains(" lora rank=2 scale=5 dropout=0 on=") && Contains(" lora rank=3 scale=2 "));
}

TEST_CASE("modules that are trained too are named alone or with their parents") {
  const chain head = adapt(small_llama(), {.rank = 1, .targets = {"q_proj"}, .also_train = {"lm_head", "1.mlp"}});
  CHECK(trained_in(head) ==
        std::vector<std::string>{"model.layers.0.self_attn.q_proj.lora_A.weight",
                                 "model.layers.0.self_attn.q_proj.lora_B.weight", "model.layers.1.mlp.gate_proj.weight",
                                 "model.layers.1.mlp.up_proj.weight", "model.layers.1.mlp.down_proj.weight",
                                 "model.layers.1.self_attn.q_proj.lora_A.weight",
                                 "model.layers.1.self_attn.q_proj.lora_B.weight", "lm_head.weight"});
}

TEST_CASE("a new adapter changes nothing, and without it the chain is what it was") {
  const chain base = small_llama(), c = adapt(base, {.rank = 2});
  const at::Tensor ids = random_ids({2, 6}, 9, 3);
  const parameter_layout before{base, 0, base.size()};
  chain all = c;
  all.freeze({});
  const parameter_layout layout{all, 0, all.size()};
  const at::Tensor x = output_of(all, layout, initial_values(all, layout), ids, {});
  const at::Tensor y = output_of(base, before, initial_values(base, before), ids, {});
  CHECK(same_bits(x, y));
  const chain without = without_adapter(c);
  CHECK_FALSE(adapter_of(without));
  CHECK_FALSE(without.has_frozen());
  for (std::size_t i = 0; i < base.size(); ++i) CHECK(without.signature(i) == base.signature(i));
}

TEST_CASE("merged weights give what weight and adapter give together") {
  for (const int bits : {0, 1, 2, 3}) {
    const bool transposed = (bits & 1) != 0, magnitudes = (bits & 2) != 0;
    chain c = adapt(transposed ? small_gpt2() : small_llama(),
                    {.rank = 2, .alpha = 3, .rank_scaled = transposed, .magnitudes = magnitudes});
    c.freeze({});
    const flat_values own{c};
    const chain whole = without_adapter(c);
    const parameter_layout merged{whole, 0, whole.size()};
    const at::Tensor sums = zeros({static_cast<std::int64_t>(merged.elements())});
    const stored_values of = merged_values(c, [&](const parameter_spec& p) {
      return stored_tensor{stored_type::f32, p.shape, own.of(p.name)};
    });
    for (const placed_parameter& p : merged.parameters()) {
      const std::string source = p.tied_to.empty() ? p.name : p.tied_to;
      const auto data = of({.name = source, .shape = p.shape, .initial = {}, .tied_to = {}}).data;
      std::memcpy(static_cast<float*>(sums.mutable_data_ptr()) + p.offset, data.data(), data.size());
    }
    const at::Tensor ids = random_ids({2, 6}, 9, 3);
    const at::Tensor flat = own.tensor.clone();
    for (const placed_parameter& p : own.layout.parameters())  // a tied copy has its owner's values
      if (!p.tied_to.empty())
        std::memcpy(static_cast<float*>(flat.mutable_data_ptr()) + p.offset, own.of(p.tied_to).data(), 4 * p.elements);
    const at::Tensor x = output_of(c, own.layout, flat, ids, {}), y = output_of(whole, merged, sums, ids, {});
    CHECK(distance(x, y) < 1e-5 * number(x.abs().max()));
    CHECK(distance(x, output_of(whole, merged, sums.mul(0.9), ids, {})) > 1e-3);
  }
}

TEST_CASE("an adapter's dropout hides inputs from the adapter alone, differently at each place") {
  chain c = adapt(small_llama(), {.rank = 2, .dropout = 0.5, .targets = {"q_proj", "up_proj"}});
  c.freeze({});
  const flat_values own{c};
  const at::Tensor ids = random_ids({2, 6}, 9, 3);
  const at::Tensor once = output_of(c, own.layout, own.tensor, ids, {}),
                   again = output_of(c, own.layout, own.tensor, ids, {});
  CHECK(same_bits(once, again));
  std::set<std::uint32_t> sites;
  for (const low_rank_term& t : dynamic_cast<const adapted_layer&>(*c.at(1).body).terms()) sites.insert(t.site);
  CHECK(sites.size() == 2);
  const chain base = small_llama();  // with B of zero only the adapter could drop something
  const parameter_layout before{base, 0, base.size()};
  CHECK(same_bits(output_of(c, own.layout, initial_values(c, own.layout), ids, {}),
                  output_of(base, before, initial_values(base, before), ids, {})));
  const at::Tensor evaluated = output_of(c, own.layout, own.tensor, ids, {.training = false});
  CHECK(distance(once, evaluated) > 1e-4);
  CHECK(distance(once, output_of(c, own.layout, own.tensor, ids, {.step = 1})) > 1e-4);
}

TEST_CASE("an adapted model writes text token by token as it reads it as a whole") {
  chain c = adapt(small_gpt2(), {.rank = 2, .dropout = 0.5});
  c.freeze({});
  const flat_values own{c};
  const at::Tensor ids = random_ids({2, 6}, 9, 3);
  const at::Tensor whole = output_of(c, own.layout, own.tensor, ids, {.training = false});
  std::vector<decode_memory> memories(c.size());
  for (std::int64_t seen = 0; seen < 6; seen += 2) {
    at::Tensor x = ids.narrow(1, seen, 2);
    for (std::size_t i = 0; i < c.size(); ++i) {
      memories[i].seen = seen;
      x = c.at(i).body->decode(own.layout.views(own.tensor, i), x, {.training = false}, memories[i]).contiguous();
    }
    CHECK(distance(x, whole.narrow(1, seen, 2)) < 1e-5 * number(whole.abs().max()));
  }
}

TEST_CASE("an impossible adapter is refused with what to do") {
  const auto refusal = [](const lora_options& o, chain model) {
    try {
      adapt(std::move(model), o);
    } catch (const fault_error& e) {
      CHECK(e.what_happened().code == fault_code::bad_input);
      return e.what_happened().text;
    }
    return std::string{"accepted"};
  };
  CHECK_THAT(refusal({.rank = 0}, small_gpt2()), Contains("\"rank\"") && Contains("at least 1"));
  CHECK_THAT(refusal({.rank = 1, .alpha = -1}, small_gpt2()), Contains("\"alpha\""));
  CHECK_THAT(refusal({.rank = 1, .dropout = 1}, small_gpt2()), Contains("\"dropout\""));
  CHECK_THAT(refusal({.rank = 1, .targets = {}}, small_gpt2()), Contains("\"targets\""));
  CHECK_THAT(refusal({.rank = 1, .targets = {"q_prj"}}, small_llama()),
             Contains("\"q_prj\", which is not a linear map of the model; did you mean \"q_proj\"?"));
  CHECK_THAT(refusal({.rank = 1, .targets = {"wte"}}, small_gpt2()),
             Contains("not a linear map") && Contains("known: c_attn, c_fc, c_proj, lm_head"));
  CHECK_THAT(refusal({.rank = 1, .targets = {"lm_head"}}, small_gpt2()), Contains("tied"));
  CHECK_THAT(refusal({.rank = 1, .also_train = {"lm_head"}}, small_gpt2()), Contains("tied"));
  CHECK_THAT(refusal({.rank = 1, .also_train = {"wte"}}, small_gpt2()), Contains("tied"));
  CHECK_THAT(refusal({.rank = 1, .also_train = {"head"}}, small_llama()), Contains("did you mean \"lm_head\"?"));
  CHECK_THAT(refusal({.rank = 1, .targets = {"q_proj"}, .also_train = {"self_attn"}}, small_llama()),
             Contains("both name"));
  chain frozen = small_llama();
  frozen.freeze(freezing{{"*", "!lm_head.*"}});
  CHECK_THAT(refusal({.rank = 1}, frozen), Contains("leave out \"freeze\""));
}

}  // namespace hydra::test
