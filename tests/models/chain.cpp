#include "models/chain.hpp"

#include "models/chain_loss.hpp"
#include "models/layers/linear.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <ATen/core/Tensor.h>
#include <catch2/catch.hpp>

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

/// Parameters only.
struct parameters_only final : layer {
  explicit parameters_only(std::vector<parameter_spec> specs) : specs_(std::move(specs)) {}
  std::vector<parameter_spec> parameters() const override { return specs_; }
  tensor_spec output(const tensor_spec& input) const override { return input; }
  at::Tensor forward(std::span<const at::Tensor>, const at::Tensor& x, const layer_context&) const override {
    return x;
  }
  std::string signature() const override { return "parameters only"; }
  std::vector<parameter_spec> specs_;
};

chain of(std::vector<parameter_spec> specs) {
  chain c{"test", {{4}, element::f32}, cross_entropy()};
  c.add("", std::make_shared<parameters_only>(std::move(specs)));
  return c;
}

/// Throws in one of its functions.
struct troubled final : layer {
  enum class place { parameters, output, forward, signature };
  troubled(place where, std::function<void()> thrower) : where_(where), thrower_(std::move(thrower)) {}
  void reach(place here) const {
    if (here == where_) thrower_();
  }
  std::vector<parameter_spec> parameters() const override {
    return reach(place::parameters), std::vector<parameter_spec>{};
  }
  tensor_spec output(const tensor_spec& input) const override { return reach(place::output), input; }
  at::Tensor forward(std::span<const at::Tensor>, const at::Tensor& x, const layer_context&) const override {
    return reach(place::forward), x;
  }
  std::string signature() const override { return reach(place::signature), "troubled"; }
  place where_;
  std::function<void()> thrower_;
};

/// What a chain whose layer 1 throws there says when all of them are called.
std::string fault_of(troubled::place where, const std::function<void()>& thrower) {
  try {
    chain c{"test", {{4}, element::f32}, cross_entropy()};
    c.add("a.", std::make_shared<linear>(linear_options{.in = 4, .out = 6}));
    c.add("b.", std::make_shared<troubled>(where, thrower));
    c.validate();
    c.signature(1);
    c.forward(1, {}, zeros({3, 6}), {});
  } catch (...) {
    return to_fault(std::current_exception()).text;
  }
  return {};
}

chain two_linears(std::int64_t hidden) {
  chain c{"test", {{4}, element::f32}, cross_entropy()};
  c.add("a.", std::make_shared<linear>(linear_options{.in = 4, .out = 6}));
  c.add("b.", std::make_shared<linear>(linear_options{.in = hidden, .out = 2}));
  return c;
}

}  // namespace

TEST_CASE("a chain prefixes the names of its layers") {
  const auto parameters = two_linears(6).parameters(1);
  REQUIRE(parameters.size() == 2);
  CHECK(parameters[0].name == "b.weight");
  CHECK(parameters[1].name == "b.bias");
}

TEST_CASE("a chain knows the output of every layer") {
  const auto outputs = two_linears(6).outputs(3);
  REQUIRE(outputs.size() == 2);
  CHECK(outputs[0] == tensor_spec{{3, 6}, element::f32});
  CHECK(outputs[1] == tensor_spec{{3, 2}, element::f32});
}

TEST_CASE("layers that do not fit together are refused by name") {
  CHECK_NOTHROW(two_linears(6).validate());
  CHECK_THROWS_WITH(two_linears(5).validate(), Contains("layer 1 (\"b.\")") && Contains("f32[1, 6]"));
}

TEST_CASE("what a layer throws is reported with the layer and what was asked of it, whatever it throws") {
  const auto boom = [] { throw std::runtime_error("boom"); };
  const std::string name = "layer 1 (\"b.\") of chain \"test\" (troubled), ";
  CHECK(fault_of(troubled::place::parameters, boom) == name + "parameters(): boom");
  CHECK(fault_of(troubled::place::output, boom) == name + "output(f32[1, 6]): boom");
  CHECK(fault_of(troubled::place::forward, boom) == name + "forward() of f32[3, 6]: boom");
  CHECK(fault_of(troubled::place::forward, [] { throw 7; }) ==
        name + "forward() of f32[3, 6]: an exception was thrown that is not a std::exception");
  CHECK(fault_of(troubled::place::signature, boom) == "layer 1 (\"b.\") of chain \"test\", signature(): boom");
}

TEST_CASE("what LibTorch throws in a layer is reported with the layer and the input") {
  const auto wrong = fault_of(troubled::place::forward, [] { zeros({20, 33}).mm(zeros({32, 32})); });
  CHECK_THAT(wrong, Contains("(20x33 and 32x32)") &&
                        Contains("layer 1 (\"b.\") of chain \"test\" (troubled), forward() of f32[3, 6]"));
}

TEST_CASE("a loss that throws or returns no number is reported with its name and both shapes") {
  struct bad final : loss {
    at::Tensor sum(const at::Tensor& output, const at::Tensor&) const override {
      return output.size(0) == 1 ? throw std::runtime_error("boom") : output.sum(-1);
    }
    std::string name() const override { return "bad"; }
  };
  chain c = two_linears(6);
  c.minimise(std::make_shared<bad>());
  const auto targets = zeros({3});
  CHECK_THROWS_WITH(summed_loss(c, zeros({1, 2}), targets),
                    "loss \"bad\" of chain \"test\", sum() of an output f32[1, 2] and targets f32[3]: boom");
  CHECK_THROWS_WITH(summed_loss(c, zeros({3, 2}), targets),
                    Contains("it returns f32[3]; expected is one number, f32[], the sum over all targets"));
}

TEST_CASE("a tied parameter counts once") {
  const chain c = of({{"w", {3, 4}, {}, {}}, {"r", {3, 4}, {}, "w"}});
  CHECK_NOTHROW(c.validate());
  CHECK(c.parameter_count() == 12);
}

TEST_CASE("a tied copy may come before its owner") {
  CHECK_NOTHROW(of({{"r", {3}, {}, "w"}, {"w", {3}, {}, {}}}).validate());
}

TEST_CASE("ties that cannot hold are refused") {
  const parameter_spec w{"w", {3, 4}, {}, {}};
  CHECK_THROWS_WITH(of({w, {"r", {3, 4}, {}, "v"}}).validate(), Contains("\"v\", which does not exist"));
  CHECK_THROWS_WITH(of({w, {"r", {4, 3}, {}, "w"}}).validate(), Contains("shapes must be equal"));
  CHECK_THROWS_WITH(of({w, {"r", {3, 4}, {}, "w"}, {"s", {3, 4}, {}, "r"}}).validate(),
                    Contains("name the owner \"w\""));
  CHECK_THROWS_WITH(of({{"w", {3, 4}, {}, "w"}}).validate(), Contains("tied itself"));
}

TEST_CASE("names twice, empty shapes and empty chains are refused") {
  CHECK_THROWS_WITH(of({{"w", {3}, {}, {}}, {"w", {4}, {}, {}}}).validate(),
                    Contains("two parameters are named \"w\""));
  CHECK_THROWS_WITH(of({{"w", {3, 0}, {}, {}}}).validate(), Contains("[3, 0]") && Contains("must be positive"));
  CHECK_THROWS_WITH(of({{"w", {3, -8}, {}, {}}}).validate(),
                    Contains("[3, -8]") && Contains("too large: use smaller options"));
  CHECK_THROWS_WITH((chain{"test", {}, cross_entropy()}.validate()), Contains("no layer"));
  CHECK_THROWS_WITH((chain{"test", {}, nullptr}), Contains("no loss"));
  CHECK_THROWS_AS((chain{"test", {}, cross_entropy()}.add("a.", nullptr)), fault_error);
}
