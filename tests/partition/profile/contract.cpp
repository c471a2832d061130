#include "partition/profile/contract.hpp"

#include "models/dropout.hpp"
#include "models/layers/linear.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/small_models.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/rand_like.h>
#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

/// x -> f(x), [samples, width]; output() says `said` values.
struct own_layer final : layer {
  using function = std::function<at::Tensor(const at::Tensor&, const layer_context&)>;
  explicit own_layer(function f, std::int64_t said = 8) : f_(std::move(f)), said_(said) {}
  std::vector<parameter_spec> parameters() const override { return {}; }
  tensor_spec output(const tensor_spec& input) const override { return {{input.shape[0], said_}, element::f32}; }
  at::Tensor forward(std::span<const at::Tensor>, const at::Tensor& x, const layer_context& c) const override {
    return f_(x, c);
  }
  std::string signature() const override { return "own layer"; }
  function f_;
  std::int64_t said_;
};

struct own_loss final : loss {
  using function = std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>;
  explicit own_loss(function f) : f_(std::move(f)) {}
  at::Tensor sum(const at::Tensor& output, const at::Tensor& targets) const override { return f_(output, targets); }
  std::string name() const override { return "own loss"; }
  function f_;
};

chain with_layer(own_layer::function f, std::int64_t said = 8) {
  chain c{"own", {{8}, element::f32}, cross_entropy()};
  c.add("0.", std::make_shared<linear>(linear_options{.in = 8, .out = 8}));
  c.add("1.", std::make_shared<own_layer>(std::move(f), said));
  c.add("2.", std::make_shared<linear>(linear_options{.in = said, .out = 3}));
  return c;
}

chain with_own_loss(own_loss::function f) {
  chain c{"own", {{8}, element::f32}, std::make_shared<own_loss>(std::move(f))};
  c.add("0.", std::make_shared<linear>(linear_options{.in = 8, .out = 3}));
  return c;
}

/// What it is refused with; empty if it is accepted.
std::string refusal_of(const chain& c, const tensor_spec& target, std::int64_t samples = 4) {
  const auto meter = make_host_meter();
  try {
    check_contract(c, {target, samples}, {*meter});
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    return e.what_happened().text;
  }
  return {};
}

const tensor_spec one_class{{}, element::i64};
const tensor_spec three_values{{3}, element::f32};

std::string refusal_of_layer(own_layer::function f, std::int64_t said = 8) {
  return refusal_of(with_layer(std::move(f), said), one_class);
}

std::string refusal_of_loss(own_loss::function f, const tensor_spec& target = one_class) {
  return refusal_of(with_own_loss(std::move(f)), target);
}

/// -log of the softmax of the right class, 0 for masked targets.
at::Tensor entropies(const at::Tensor& y, const at::Tensor& targets) {
  const auto counts = targets.ne(-100);
  const auto there = targets.mul(counts);
  return y.log_softmax(-1).gather(-1, there.unsqueeze(-1)).squeeze(-1).neg().mul(counts);
}

}  // namespace

TEST_CASE("models of the tree keep the contract, with dropout, in bf16 and with a loss in chunks, too") {
  const auto gpt =
      small_gpt({.layers = 2, .width = 16, .heads = 2, .context = 6, .dropout = 0.1, .attention_dropout = 0.1});
  const auto in_chunks = std::make_shared<chain>(*gpt.body);
  in_chunks->chunk_loss(4);
  const auto mlp = small_mlp({.layers = 3, .width = 16, .dropout = 0.5}), cnn = small_cnn({.stages = 2, .width = 4});
  for (const auto& m : {gpt, rounded(gpt), mlp, cnn, small_model{gpt.data, in_chunks}}) {
    for (const std::int64_t samples : {1, 2, 5}) {
      CHECK(refusal_of(*m.body, m.data->sample_target(), samples) == "");
    }
  }
}

TEST_CASE("a layer whose random numbers have the seed of its context is pure") {
  CHECK(refusal_of_layer([](const at::Tensor& x, const layer_context& c) { return keyed_dropout(x, 0.5, c, 0); }) ==
        "");
}

TEST_CASE("a layer that gives other bits the second time is refused by name, with what to do") {
  const auto calls = std::make_shared<int>(0);
  const own_layer::function impure[] = {
      [](const at::Tensor& x, const layer_context&) { return x.add(at::rand_like(x)); },
      [](const at::Tensor& x, const layer_context&) { return x.mul(at::rand_like(x).gt(0.5)); },
      [calls](const at::Tensor& x, const layer_context&) { return x.add(static_cast<double>(++*calls)); }};
  for (const auto& f : impure) {
    CHECK_THAT(refusal_of_layer(f), Contains("layer 1 (\"1.\") of chain \"own\" (own layer)") &&
                                        Contains("returns other bits the second time") && Contains("layer_context"));
  }
}

TEST_CASE("a layer whose NaN is the same NaN each time is pure") {
  CHECK(refusal_of_layer([](const at::Tensor& x, const layer_context&) { return x.abs().add(1).neg().sqrt(); }) == "");
}

TEST_CASE("an output of another shape than was said is refused with both") {
  const auto same = [](const at::Tensor& x, const layer_context&) { return x.clone(); };
  CHECK(refusal_of_layer(same, 8) == "");
  CHECK_THAT(refusal_of_layer(same, 9),
             Contains("layer 1 (\"1.\")") &&
                 Contains("forward() of f32[2, 8] returns f32[2, 8], but output() says f32[2, 9]"));
}

TEST_CASE("what throws is left to the measurement") {
  CHECK(refusal_of_layer([](const at::Tensor&, const layer_context&) -> at::Tensor { throw 7; }) == "");
  CHECK(refusal_of_loss([](const at::Tensor&, const at::Tensor&) -> at::Tensor { throw 7; }) == "");
}

TEST_CASE("losses that are sums are accepted, masked, contrastive and zero ones, too") {
  CHECK(refusal_of_loss([](const at::Tensor& y, const at::Tensor& t) { return entropies(y, t).sum(); }) == "");
  CHECK(refusal_of_loss([](const at::Tensor& y, const at::Tensor& t) { return y.sub(t).square().sum(); },
                        three_values) == "");
  CHECK(refusal_of_loss([](const at::Tensor& y, const at::Tensor&) {
          return y.mm(y.t()).log_softmax(-1).diagonal().sum().neg();
        }) == "");
  CHECK(refusal_of_loss([](const at::Tensor& y, const at::Tensor&) { return y.mul(0).sum(); }) == "");
}

TEST_CASE("a loss that is a mean is refused with what to return instead") {
  const auto is_mean = [](const std::string& refusal) {
    CHECK_THAT(refusal, Contains("loss \"own loss\" of chain \"own\"") && Contains("it returns a mean") &&
                            Contains("at::Reduction::Sum"));
  };
  is_mean(refusal_of_loss([](const at::Tensor& y, const at::Tensor& t) { return entropies(y, t).mean(); }));
  is_mean(
      refusal_of_loss([](const at::Tensor& y, const at::Tensor& t) { return entropies(y, t).sum().div(t.numel()); }));
  is_mean(
      refusal_of_loss([](const at::Tensor& y, const at::Tensor& t) { return y.sub(t).square().mean(); }, three_values));
}
