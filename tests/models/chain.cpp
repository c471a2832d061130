#include "models/chain.hpp"

#include "models/layers/linear.hpp"
#include "runtime/base/fault.hpp"

#include <ATen/core/Tensor.h>
#include <catch2/catch.hpp>

using namespace hydra;
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
  CHECK_THROWS_WITH(of({{"w", {3, -8}, {}, {}}}).validate(), Contains("[3, -8]") && Contains("too large: use smaller options"));
  CHECK_THROWS_WITH((chain{"test", {}, cross_entropy()}.validate()), Contains("no layer"));
  CHECK_THROWS_WITH((chain{"test", {}, nullptr}), Contains("no loss"));
  CHECK_THROWS_AS((chain{"test", {}, cross_entropy()}.add("a.", nullptr)), fault_error);
}
