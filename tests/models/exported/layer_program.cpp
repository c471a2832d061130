#include "models/exported/layer_program.hpp"

#include "models/exported/boundary.hpp"
#include "models/exported/read_graph.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/exported/small_graph.hpp"

#include <ATen/Context.h>
#include <ATen/Functions.h>

#include <catch2/catch.hpp>

#include <vector>

using namespace hydra;
using namespace hydra::test;
using Catch::Contains;

namespace {

constexpr std::int64_t samples = 5;

using tensors = std::vector<at::Tensor>;

const exported_graph graph = read_graph(small_graph);

at::Tensor numbers(std::vector<std::int64_t> shape, double scale) {
  std::int64_t n = 1;
  for (const std::int64_t size : shape) n *= size;
  return at::arange(1, n + 1, at::kFloat).mul(scale).sin().view(shape);
}

tensors inputs() { return {numbers({samples, 2}, 1.3), at::arange(samples).remainder(3).ne(0)}; }

tensors body_parameters() {
  return {numbers({3, 2}, 0.7).set_requires_grad(true), at::zeros({3}).set_requires_grad(true),
          at::ones({3}).set_requires_grad(true)};
}

tensors body(const tensors& parameters, const layer_context& context) {
  const tensors constants{numbers({3}, 0.4)};
  return layer_program{graph.layers[0]}.run({parameters, constants, inputs()}, samples, context);
}

tensors head(const tensors& parameters, const tensors& values, const layer_context& context) {
  return layer_program{graph.layers[1]}.run({parameters, {}, values}, samples, context);
}

/// Two by two, of "x".
graph_layer pool() {
  const auto both = [](std::int64_t n) { return graph_argument{argument_list{{n}, {n}}}; };
  graph_layer made;
  made.name = "stem";
  made.inputs = {{.name = "x", .shape = {}, .strides = {}, .gradient = {}}};
  graph_call call;
  call.op = "aten::max_pool2d";
  call.arguments = {{value_reference{"x"}}, both(2), both(2), both(0), both(1), {false}};
  call.results = {"y"};
  made.calls = {call};
  return made;
}

/// LibTorch's setting of the process, as the CUDA plug-in has it.
struct deterministic {
  deterministic() { at::globalContext().setDeterministicAlgorithms(true, false); }
  ~deterministic() { at::globalContext().setDeterministicAlgorithms(false, false); }
  deterministic(const deterministic&) = delete;
  deterministic& operator=(const deterministic&) = delete;
};

graph_parts crossing() { return std::make_shared<const std::vector<graph_part>>(graph.layers[1].inputs); }

}  // namespace

TEST_CASE("a layer computes what its calls say", "[exported]") {
  const tensors parameters = body_parameters();
  const tensors made = body(parameters, {.training = true});
  REQUIRE(made.size() == 2);
  const at::Tensor linear = at::linear(inputs()[0], parameters[0]);
  const at::Tensor normed = at::batch_norm(linear, {}, {}, {}, {}, true, 0.25, 1e-5, true);
  CHECK(at::equal(made[0], normed.add(numbers({3}, 0.4)).relu()));
  CHECK(made[0].strides() == c10::IntArrayRef{{1, samples}});
  CHECK(at::equal(made[1], inputs()[1]));
}

TEST_CASE("the statistics of a batch norm get what averaging asks of their gradients", "[exported]") {
  const tensors parameters = body_parameters();
  body(parameters, {.training = true})[0].sum().backward();
  const at::Tensor linear = at::linear(inputs()[0], parameters[0].detach());
  CHECK(at::allclose(parameters[1].grad(), linear.mean(0).mul(0.25)));
  CHECK(at::allclose(parameters[2].grad(), linear.var(0).mul(0.25)));
}

TEST_CASE(
    "in evaluation nothing is dropped, in training the same elements again, by the site and not by the layer's place",
    "[exported]") {
  const tensors parameters{numbers({1, 3}, 1.1)};
  const tensors values = body(body_parameters(), {.training = true});
  const auto run = [&](const layer_context& context) { return head(parameters, values, context)[0].detach(); };
  const at::Tensor whole = run({.training = false});
  const at::Tensor dropped = run({.seed = 3, .layer = 1});
  CHECK_FALSE(at::equal(whole, dropped));
  CHECK(at::equal(dropped, run({.seed = 3, .layer = 7})));
  CHECK_FALSE(at::equal(dropped, run({.seed = 3, .step = 1, .layer = 1})));
}

TEST_CASE("values and gradients pass a boundary with their strides and bits", "[exported]") {
  const tensors parameters{numbers({1, 3}, 1.1).set_requires_grad(true)};
  const layer_context context{.training = false};
  tensors direct = body(body_parameters(), {.training = true});
  for (at::Tensor& v : direct) v = v.detach();
  direct[0].set_requires_grad(true);
  head(parameters, direct, context)[0].sum().backward();
  const at::Tensor flat = close_boundary(crossing(), samples, {direct[0].detach(), direct[1]}).set_requires_grad(true);
  CHECK(flat.numel() * 8 == 520);  // two parts, each of 256 bytes with its padding, in equal rows
  const tensors opened = open_boundary(crossing(), samples, flat);
  CHECK(at::equal(opened[0], direct[0]));
  CHECK(opened[0].strides() == direct[0].strides());
  CHECK(opened[1].scalar_type() == at::kBool);
  head(parameters, opened, context)[0].sum().backward();
  const at::Tensor gradient = flat.grad().view({-1}).view(at::kFloat);
  const at::Tensor back = gradient.narrow(0, 0, 3 * samples).view({3, samples}).t();
  CHECK(at::equal(back, direct[0].grad()));
  CHECK(gradient.narrow(0, 64, 66).count_nonzero().item<std::int64_t>() == 0);
}

TEST_CASE("a value gets other strides by a copy, and is itself where it has them", "[exported]") {
  const at::Tensor x = at::arange(6, at::kFloat).view({2, 3});
  const at::Tensor turned = with_strides(x, {1, 2});
  CHECK(turned.strides() == at::IntArrayRef{1, 2});
  CHECK(at::equal(turned, x));
  CHECK(with_strides(x, {3, 1}).is_same(x));
}

TEST_CASE("a boundary in the middle of a graph does not change gradients", "[exported]") {
  const layer_context context{.training = true};
  const auto gradients = [&](bool crosses) {
    const tensors parameters = body_parameters(), last{numbers({1, 3}, 1.1).set_requires_grad(true)};
    tensors values = body(parameters, context);
    if (crosses) values = open_boundary(crossing(), samples, close_boundary(crossing(), samples, values));
    head(last, values, context)[0].sum().backward();
    return tensors{parameters[0].grad(), last[0].grad()};
  };
  const tensors direct = gradients(false), crossed = gradients(true);
  CHECK(at::equal(direct[0], crossed[0]));
  CHECK(at::equal(direct[1], crossed[1]));
}

TEST_CASE("a max pool whose gradient would vary is refused where nothing may vary", "[exported]") {
  const layer_program program{pool()};
  const auto run = [&](at::Device where, at::MemoryFormat order) {
    const at::Tensor x = at::zeros({samples, 3, 4, 4}, where).contiguous(order).set_requires_grad(true);
    program.run({{}, {}, tensors{x}}, samples, {});
  };
  const deterministic here;
  CHECK_NOTHROW(run(at::kCPU, at::MemoryFormat::ChannelsLast));
  CHECK_NOTHROW(run(at::kMeta, at::MemoryFormat::Contiguous));
  CHECK_THROWS_WITH(run(at::kMeta, at::MemoryFormat::ChannelsLast),
                    Contains("aten::max_pool2d") && Contains("on meta") && Contains("torch.channels_last"));
}

TEST_CASE("arguments that LibTorch refuses are bad input, named with layer and operation", "[exported]") {
  graph_layer made = pool();
  made.calls[0].op = "aten::layer_norm";
  made.calls[0].arguments = {{value_reference{"x"}}, {argument_list{{-8}}}, {}, {}, {1e-5}, {false}};
  const tensors x{at::zeros({samples, 8})};
  try {
    layer_program{made}.run({{}, {}, x}, samples, {});
    FAIL("it was computed");
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    CHECK_THAT(e.what(),
               Contains("layer stem: aten::layer_norm: its \"args\" do not suit: ") && Contains("normalized_shape"));
  }
}

TEST_CASE("an output of another shape than the graph says is refused", "[exported]") {
  exported_graph other =
      read_graph(bent_graph("\"shape\": [\"B\", 1], \"strides\": [1, 1], \"gradient\": [1, 1]}],\n   \"parameters\"",
                            "\"shape\": [\"B\", 2], \"strides\": [2, 1], \"gradient\": [2, 1]}],\n   \"parameters\""));
  const tensors parameters{numbers({1, 3}, 1.1)};
  const tensors values = body(body_parameters(), {.training = true});
  CHECK_THROWS_WITH(layer_program{other.layers[1]}.run({parameters, {}, values}, samples, {.training = false}),
                    Contains("the output \"y\" is Float [5, 1], and the graph says f32 [5, 2]"));
}
