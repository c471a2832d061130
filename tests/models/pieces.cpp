// Parameters of layers in pieces: their names, initial values and stored values are those of the whole layers.

#include "models/chain.hpp"
#include "models/data/data_catalog.hpp"
#include "models/families/cnn/cnn.hpp"
#include "models/families/gemma/gemma.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/families/llama/llama.hpp"
#include "models/families/mlp/mlp.hpp"
#include "models/joined_weights.hpp"
#include "models/parameter_layout.hpp"
#include "models/parameter_slice.hpp"
#include "models/pieces/piece_columns.hpp"
#include "models/pieces/token_columns.hpp"
#include "models/targets_beside_inputs.hpp"
#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/stack_ops.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace hydra::test::models_in_pieces {
namespace {

using Catch::Contains;
using Catch::Equals;

const data_source& text() {
  static const auto data = open_data({synthetic_language{.symbols = 9, .tokens = 100, .validation_tokens = 0}}, 6);
  return *data;
}

chain small_gpt2() { return gpt2({.layers = 2, .width = 8, .heads = 4, .context = 6, .dropout = 0.1}).build(text()); }

std::vector<std::string> names_in(const chain& model, std::size_t layer) {
  std::vector<std::string> names;
  for (const parameter_spec& p : model.parameters(layer)) names.push_back(p.name);
  return names;
}

std::vector<float> initial(const chain& model, const parameter_spec& p) {
  std::vector<float> values(static_cast<std::size_t>(p.elements()));
  initialise(values, p, model, 3);
  return values;
}

/// Numbers that tell where they are.
class counted_weights final : public weight_source {
 public:
  bool read(const parameter_spec& p, std::span<float> values) const override {
    if (p.slice || p.name == "wpe.weight") return false;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + p.name.size() * 1000);
    return true;
  }
  std::string identity() const override { return "counted"; }
  std::string origin(const std::string& parameter) const override { return parameter; }
};

TEST_CASE("a slice names its whole parameter, and takes runs of its values", "[pieces]") {
  const parameter_slice s{{2, 6}, 1, {{0, 1}, {4, 6}}};
  CHECK(s.shape() == std::vector<std::int64_t>{2, 3});
  std::vector<std::size_t> places;
  s.for_each_run([&](std::size_t in_whole, std::size_t in_slice, std::size_t n) {
    CHECK(in_slice == places.size());
    for (std::size_t i = 0; i < n; ++i) places.push_back(in_whole + i);
  });
  CHECK(places == std::vector<std::size_t>{0, 4, 5, 6, 10, 11});
  CHECK(piece_name("a.weight", {1, 4}) == "a.weight/2of4");
  CHECK(whole_name("a.weight/2of4") == "a.weight");
  for (const char* const name : {"a.weight", "a/b", "a/2of", "a/of4", "a/2or4"}) CHECK(whole_name(name) == name);
}

TEST_CASE("a divided chain has embedding, attentions, MLPs and head in pieces", "[pieces]") {
  chain model = small_gpt2();
  const auto whole = model.parameters();
  model.divide(2).validate();
  REQUIRE(model.size() == 2 + 4 * (1 + 2) + (1 + 2 + 1));  // openings before attentions, MLPs and head, and its end
  CHECK(model.pieces() == 2);
  CHECK(names_in(model, 0) == std::vector<std::string>{"wte.weight/1of2", "wpe.weight"});
  CHECK(names_in(model, 14) == std::vector<std::string>{"ln_f.weight", "ln_f.bias"});
  CHECK(names_in(model, 16) == std::vector<std::string>{"lm_head.weight/2of2"});
  CHECK(model.parameters(16)[0].tied_to == "wte.weight/2of2");
  CHECK(names_in(model, 17).empty());
  CHECK(names_in(model, 2) == std::vector<std::string>{"h.0.ln_1.weight", "h.0.ln_1.bias"});
  CHECK(names_in(model, 3) == std::vector<std::string>{"h.0.attn.c_attn.weight/1of2", "h.0.attn.c_attn.bias/1of2",
                                                       "h.0.attn.c_proj.weight/1of2", "h.0.attn.c_proj.bias"});
  CHECK(names_in(model, 7) ==
        std::vector<std::string>{"h.0.mlp.c_fc.weight/2of2", "h.0.mlp.c_fc.bias/2of2", "h.0.mlp.c_proj.weight/2of2"});
  CHECK(model.stored_name("h.0.mlp.c_fc.weight/2of2") == "transformer.h.0.mlp.c_fc.weight");
  CHECK(model.at(1).number == 0);
  CHECK(model.at(2).number == 1);
  CHECK(model.at(13).number == 2);
  CHECK(model.at(14).number == 3);
  CHECK(model.parameter_count() == small_gpt2().parameter_count());
  const auto slices = slices_in(model.parameters());
  CHECK(slices.size() == 2 * 6 + 2);
  for (const parameter_spec& p : whole)
    if (const auto found = slices.find(p.name); found != slices.end()) {
      INFO(p.name);
      std::vector<float> values(static_cast<std::size_t>(p.elements()), -1);
      CHECK(join_slices(found->second, values, [&](const parameter_spec& slice, std::span<float> to) {
        std::ranges::copy(initial(model, slice), to.begin());
        return true;
      }));
      CHECK(values == initial(small_gpt2(), p));
    }
}

TEST_CASE("weights of a divided chain are slices of the whole ones, and joined again", "[pieces]") {
  chain model = small_gpt2();
  model.begin_with(std::make_shared<counted_weights>());
  const chain before = model;
  model.divide(4);
  CHECK(model.weights()->origin("h.1.mlp.c_fc.weight/3of4") == "h.1.mlp.c_fc.weight");
  const parameter_spec c_attn = model.parameters(5)[0];
  REQUIRE(c_attn.shape == std::vector<std::int64_t>{8, 6});
  const auto values = initial(model, c_attn);
  const float first = 1000 * std::string{"h.0.attn.c_attn.weight"}.size();
  CHECK(std::vector(values.begin(), values.begin() + 8) ==
        std::vector<float>{first, first + 1, first + 8, first + 9, first + 16, first + 17, first + 24, first + 25});
  model.join().validate();
  REQUIRE(model.size() == before.size());
  CHECK(model.pieces() == 1);
  for (const parameter_spec& p : before.parameters())
    if (p.tied_to.empty()) CHECK(initial(model, p) == initial(before, p));
}

/// Layers [first, past) with their initial values.
at::Tensor run(const chain& model, std::size_t first, std::size_t past, at::Tensor x) {
  for (std::size_t i = first; i < past; ++i) {
    const parameter_layout layout{model, i, i + 1};
    const at::Tensor flat = zeros({static_cast<std::int64_t>(layout.elements())});
    layout.initialise(values(flat), model, 3);
    x = model.forward(i, layout.views(flat, i), x, {.seed = 3, .training = false});
  }
  return x;
}

at::Tensor rows(const std::vector<at::Tensor>& all) { return at::_ops::stack::call(at::TensorList{all}, 1); }

TEST_CASE("an embedding in pieces has the bits of the whole one", "[pieces]") {
  const chain whole = gpt2({.layers = 1, .width = 8, .heads = 4, .context = 6}).build(text());
  const at::Tensor ids = random_ids({3, 6}, 9, 1), targets = random_ids({3, 6}, 9, 2),
                   starts = random_ids({3, 6}, 2, 3);
  targets.select(1, 2).fill_(-100);
  for (const std::uint32_t pieces : {2, 4}) {
    const chain model = chain{whole}.divide(pieces);
    const at::Tensor plain = run(model, 0, pieces, rows({ids, targets}));
    REQUIRE(plain.size(2) == 8 + columns_of_number);
    CHECK(same_bits(plain.narrow(2, 0, 8).contiguous(), run(whole, 0, 1, ids)));
    CHECK(same_bits(targets_in(open_tokens(plain, 8).rest), targets));
    CHECK_FALSE(starts_in(open_tokens(plain, 8).rest, true).defined());
    const at::Tensor packed = run(model, 0, pieces, rows({ids, starts, targets}));
    CHECK(same_bits(packed.narrow(2, 0, 9).contiguous(), run(whole, 0, 1, rows({ids, starts}))));
    CHECK(same_bits(targets_in(open_tokens(packed, 8).rest), targets));
  }
}

TEST_CASE("a head in pieces has the loss, the gradient and the predictions of the whole one", "[pieces]") {
  const chain whole = gpt2({.layers = 1, .width = 8, .heads = 4, .context = 6}).build(text());
  const at::Tensor targets = random_ids({3, 6}, 9, 2);
  targets.select(1, 2).fill_(-100);
  const at::Tensor columns = to_columns(targets.unsqueeze(2).to(at::kFloat), at::kFloat);
  const auto evaluated = [&](const chain& model, std::size_t first, const at::Tensor& behind) {
    const at::Tensor x = random_tensor({3, 6, 8}, 7).requires_grad_(true);
    const at::Tensor out = run(model, first, model.size(), close_tokens(x, behind));
    const at::Tensor loss = model.objective().sum(out, targets);
    loss.backward();
    return std::tuple{number(loss), x.grad(), number(model.objective().correct(out, targets).value())};
  };
  const auto [loss, gradient, correct] = evaluated(whole, 2, {});
  for (const std::uint32_t pieces : {2, 4}) {
    const auto [own_loss, own_gradient, own_correct] = evaluated(chain{whole}.divide(pieces), 3 * pieces + 2, columns);
    CHECK(own_loss == Approx(loss).epsilon(1e-6));
    CHECK(distance(own_gradient, gradient) < 1e-6);
    CHECK(own_correct == correct);
  }
}

/// Without targets in their boundaries, which have no gradients.
TEST_CASE("pieces of blocks conform", "[pieces]") {
  for (chain model :
       {small_gpt2(),
        llama({.layers = 1, .width = 8, .heads = 2, .hidden = 11, .context = 6, .qk_norm = true}).build(text()),
        gemma({.layers = 1, .width = 8, .heads = 2, .hidden = 12, .context = 6}).build(text())}) {
    model.minimise(mse()).divide(2).validate();
    const auto inputs = model.inputs(2);
    for (std::size_t i = 1; i + 1 < model.size(); ++i) conforms(*model.at(i).body, random_tensor(inputs[i].shape, i));
  }
}

TEST_CASE("pieces that are side by side leave the terms of what pieces in turn pass on", "[pieces]") {
  const chain whole = gpt2({.layers = 1, .width = 8, .heads = 4, .context = 6}).build(text());
  const at::Tensor samples = rows({random_ids({3, 6}, 9, 1), random_ids({3, 6}, 9, 2)});
  for (const std::uint32_t pieces : {2, 4}) {
    const chain in_turn = chain{whole}.divide(pieces), beside = chain{whole}.divide(pieces, true);
    beside.validate();
    REQUIRE(beside.size() == in_turn.size());
    at::Tensor below, boundary = samples;  // of the opening
    for (std::size_t i = 0; i < beside.size(); ++i) {
      const auto& [piece, join] = beside.at(i).place;
      if (piece.whole()) {
        below = std::exchange(boundary, run(beside, i, i + 1, boundary));
      } else if (piece.first()) {
        std::vector<at::Tensor> terms;
        if (join == term_join::sum_with_input) terms.push_back(below);
        for (std::size_t t = i; t < i + pieces; ++t) terms.push_back(run(beside, t, t + 1, boundary));
        boundary = join == term_join::columns ? joined_columns(terms) : sum_of_terms(terms);
      }
      const auto place = beside.at(std::min(i + 1, beside.size() - 1)).place;
      const bool between = !place.piece.whole() && (!place.piece.first() || place.adds_to_input());
      if (!between) CHECK(same_bits(boundary, run(in_turn, 0, i + 1, samples)));
    }
  }
}

TEST_CASE("that embedding and head stay whole is noted", "[pieces]") {
  const auto d = gpt2({.layers = 1, .width = 8, .heads = 2, .context = 6});
  CHECK(chain{d.build(text())}.divide(2).notes().empty());
  const auto notes = chain{with_loss(d, mse()).build(text())}.divide(2).notes();
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes.front(), Contains("mse") && Contains("embedding and head stay whole"));
}

TEST_CASE("numbers in columns are exact in bf16, too, and so are their gradients", "[pieces]") {
  const at::Tensor numbers = random_tensor({4, 5, 6}, 1).mul(1e4).requires_grad_(true);
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    const at::Tensor columns = to_columns(numbers, type);
    CHECK(columns.scalar_type() == type);
    const at::Tensor back = from_columns(columns);
    CHECK(same_bits(back.detach(), numbers.detach()));
    const at::Tensor upstream = random_tensor({4, 5, 6}, 2);
    numbers.mutable_grad() = at::Tensor{};
    back.backward(upstream);
    CHECK(same_bits(numbers.grad(), upstream));
  }
}

TEST_CASE("dense layers in pieces are the whole ones, column by column", "[pieces]") {
  const auto classes = open_data({synthetic_classes{.features = 4, .classes = 3}}, 0);
  const chain whole = mlp({.layers = 2, .width = 7}).build(*classes);
  for (const bool side_by_side : {false, true}) {
    chain model = chain{whole}.divide(2, side_by_side);
    model.validate();
    REQUIRE(model.size() == 2 * 3 + 1);
    CHECK(names_in(model, 1) == std::vector<std::string>{"layers.0.weight/2of2", "layers.0.bias/2of2"});
    CHECK(model.inputs(5)[2].shape == std::vector<std::int64_t>{5, 7});
    CHECK(model.outputs(5)[2].shape == std::vector<std::int64_t>{5, 7});
  }
  const at::Tensor x = random_tensor({5, 4}, 3);
  CHECK(distance(run(chain{whole}.divide(2), 0, 7, x), run(whole, 0, 3, x)) < 1e-6);
}

TEST_CASE("what cannot be divided is refused, with what can", "[pieces]") {
  CHECK_THROWS_WITH(small_gpt2().divide(12), Contains("12 pieces are more than the 9 tokens"));
  CHECK_THROWS_WITH(small_gpt2().divide(3), Equals("parallel.pieces: layer 1 of chain \"gpt2\": 3 pieces do not divide "
                                                   "the 4 heads of the attention; these do: 2, 4"));
  const chain normed = gemma({.layers = 1, .width = 8, .heads = 2, .hidden = 12, .context = 6}).build(text());
  CHECK_THROWS_WITH(chain{normed}.divide(2, true), Contains("leave out \"side_by_side\""));
  CHECK_THROWS_WITH(small_gpt2().divide(1), Contains("2 or more are needed"));
  const auto classes = open_data({synthetic_classes{.features = 4, .classes = 3}}, 0);
  chain flat = mlp({.layers = 2, .width = 3}).build(*classes);
  CHECK_THROWS_WITH(flat.divide(4), Contains("4 pieces are more than the 3 outputs"));
  const auto images = open_data({synthetic_classes{.shape = {3, 8, 8}, .classes = 5}, true}, 0);
  chain convolutions = cnn({.stages = 1, .blocks = 1, .width = 4}).build(*images);
  CHECK_THROWS_WITH(convolutions.divide(2), Contains("no layer of chain \"cnn\" can be divided"));
  const auto adapted =
      with_pieces(with_adapter(gpt2({.layers = 1, .width = 8, .heads = 2, .context = 6}), {.rank = 2}), 2);
  CHECK_THROWS_WITH(adapted.build(text()), Contains("an adapter is not trained in pieces"));
}

TEST_CASE("samples that a head in pieces cannot learn from are refused", "[pieces]") {
  /// One sample of two tokens.
  struct two_tokens final : data_source {
    std::vector<std::int64_t> input{0, 1}, target{2, -100};
    tensor_spec of_target{{2}, element::i64};
    std::size_t samples(split) const override { return 1; }
    tensor_spec sample_input() const override { return {{2}, element::i64}; }
    tensor_spec sample_target() const override { return of_target; }
    std::int64_t classes() const override { return 3; }
    std::string describe() const override { return "two tokens"; }
    std::size_t read(split, std::size_t, std::span<std::byte> in, std::span<std::byte> out) const override {
      std::ranges::copy(std::as_bytes(std::span{input}), in.begin());
      std::ranges::copy(std::as_bytes(std::span{target}), out.begin());
      return 1;
    }
  };
  const auto read = [](const two_tokens& of) {
    const auto both = targets_beside_inputs(std::make_shared<two_tokens>(of), 3);
    std::vector<std::int64_t> input(4), target(2);
    both->read(split::train, 0, std::as_writable_bytes(std::span{input}), std::as_writable_bytes(std::span{target}));
    return input;
  };
  two_tokens data;
  CHECK(read(data) == std::vector<std::int64_t>{0, 1, 2, -100});
  data.target = {3, 0};
  CHECK_THROWS_WITH(read(data), Contains("two tokens: sample 0 has a target 3, and the model 3 tokens"));
  data.target = {-1, 0};
  CHECK_THROWS_WITH(read(data), Contains("a target -1"));
  data.target = {0, 0};
  data.input = {-100, 0};
  CHECK_THROWS_WITH(read(data), Contains("a token -100"));
  data.of_target.shape = {};
  CHECK_THROWS_WITH(read(data), Contains("needs tokens, and a target for each"));
}

}  // namespace
}  // namespace hydra::test::models_in_pieces
