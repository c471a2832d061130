#include "models/layers/vit_block.hpp"
#include "models/layers/vit_classifier.hpp"
#include "models/layers/vit_embedding.hpp"
#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

const vit_embedding_options pictures{.channels = 2, .height = 6, .width = 9, .patch = 3, .features = 4};
const vit_block_options small{.width = 8, .heads = 2, .hidden = 12};

vit_block_options without_bias() {
  vit_block_options o = small;
  o.qkv_bias = false;
  return o;
}

}  // namespace

TEST_CASE("a token of an image is the product of its patch with the kernel") {
  const vit_embedding e{pictures};
  const auto p = random_parameters(e, 1, at::kDouble);
  const at::Tensor x = random_tensor({2, 2, 6, 9}, 5, at::kDouble), y = e.forward(p, x, {});
  for (std::int64_t row = 0; row < 2; ++row)
    for (std::int64_t column = 0; column < 3; ++column) {
      const std::int64_t token = 1 + 3 * row + column;
      const at::Tensor patch = x[1].narrow(1, 3 * row, 3).narrow(2, 3 * column, 3);
      const at::Tensor product = p[2].mul(patch).sum({1, 2, 3}).add(p[3]).add(p[1][0][token]);
      CHECK(distance(y[1][token], product) < 1e-12);
    }
  CHECK(distance(y[1][0], p[0][0][0].add(p[1][0][0])) < 1e-12);
}

TEST_CASE("an image embedding conforms") {
  conforms(vit_embedding{pictures}, random_tensor({2, 2, 6, 9}, 5));
}

TEST_CASE("an image embedding refuses other images and patches that do not tile them") {
  CHECK(vit_embedding{pictures}.output({{5, 2, 6, 9}, element::f32}) == tensor_spec{{5, 7, 4}, element::f32});
  CHECK_THROWS_WITH(vit_embedding{pictures}.output({{5, 2, 9, 6}, element::f32}), Contains("6 x 9 pixels"));
  CHECK_THROWS_AS(vit_embedding{pictures}.output({{5, 1, 6, 9}, element::f32}), fault_error);
  CHECK_THROWS_WITH((vit_embedding{{.height = 8, .width = 6, .patch = 3, .features = 4}}), Contains("do not tile"));
}

TEST_CASE("a vision block conforms, with and without biases") {
  const at::Tensor x = random_tensor({2, 5, 8}, 9);
  conforms(vit_block{small}, x);
  conforms(vit_block{without_bias()}, x);
}

TEST_CASE("a vision block with zero biases equals one without biases") {
  const vit_block with{small}, without{without_bias()};
  const auto p = random_parameters(with, 1);
  for (std::size_t i : {13, 14, 15}) p[i].detach().fill_(0);
  const at::Tensor x = random_tensor({2, 5, 8}, 9);
  const auto fewer = std::span{p}.first(13);
  CHECK(distance(with.forward(p, x, {}), without.forward(fewer, x, {})) < 1e-6);
  CHECK(without.parameters().size() == 13);
  CHECK(with.signature() != without.signature());
}

TEST_CASE("a vision block does not depend on the order of the other tokens") {
  const vit_block block{small};
  const auto p = random_parameters(block, 1, at::kDouble);
  const at::Tensor x = random_tensor({2, 5, 8}, 9, at::kDouble);
  CHECK(distance(block.forward(p, x.flip({1}), {}), block.forward(p, x, {}).flip({1})) < 1e-10);
}

TEST_CASE("a vision classifier uses the class token only") {
  const vit_classifier head{{.width = 8, .classes = 3}};
  const at::Tensor x = random_tensor({2, 5, 8}, 9, at::kDouble);
  conforms(head, x);
  const auto p = random_parameters(head, 1, at::kDouble);
  const at::Tensor other = x.clone();
  other.narrow(1, 1, 4).fill_(7);
  CHECK(distance(head.forward(p, x, {}), head.forward(p, other, {})) == 0);
  CHECK_THROWS_AS(head.output({{2, 5, 9}, element::f32}), fault_error);
}
