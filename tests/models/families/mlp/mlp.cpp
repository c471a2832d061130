#include "models/families/mlp/mlp.hpp"

#include "models/data/data_catalog.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using Catch::Matchers::Contains;

TEST_CASE("an mlp goes from the data's features through hidden layers to its classes") {
  const auto data = open_data({synthetic_classes{.features = 5, .classes = 3}}, 0);
  const chain model = mlp({.layers = 2, .width = 7}).build(*data);
  CHECK(model.size() == 3);
  CHECK(model.parameter_count() == (5 * 7 + 7) + (7 * 7 + 7) + (7 * 3 + 3));
  CHECK(model.outputs(4)[1] == tensor_spec{{4, 7}, element::f32});
  CHECK(model.outputs(4)[2] == tensor_spec{{4, 3}, element::f32});
  CHECK(model.at(0).body->signature() != model.at(2).body->signature());
}

TEST_CASE("an mlp refuses tokens and impossible sizes") {
  const auto tokens = open_data({synthetic_language{.tokens = 100, .validation_tokens = 0}}, 8);
  CHECK_THROWS_WITH(mlp({.width = 7}).build(*tokens), Contains("takes rows of numbers"));
  CHECK_THROWS_WITH(mlp({.width = 0}), Contains("width is 0"));
  CHECK_THROWS_WITH(mlp({.layers = 0, .width = 7}), Contains("layers is 0"));
}
