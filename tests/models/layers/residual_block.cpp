#include "models/layers/residual_block.hpp"

#include "models/layers/norms.hpp"
#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

const residual_block plain{{.in = 4, .out = 4, .groups = 2}};
const residual_block halving{{.in = 4, .out = 8, .stride = 2, .groups = 2}};

/// The block composed of its parts, with the given skip.
at::Tensor by_parts(const std::vector<at::Tensor>& p, const at::Tensor& x, std::int64_t stride,
                    const at::Tensor& skip) {
  const std::int64_t out = p[0].size(0);
  const at::Tensor a = convolve(x, p[0], {.in = x.size(1), .out = out, .stride = stride});
  const at::Tensor b = group_norm(a, 2, p[1], p[2]).clamp_min(0);
  const at::Tensor c = group_norm(convolve(b, p[3], {.in = out, .out = out}), 2, p[4], p[5]);
  return c.add(skip).clamp_min(0);
}

}  // namespace

TEST_CASE("a block of equal shapes adds its input") {
  const auto p = random_parameters(plain, 1, at::kDouble);
  CHECK(p.size() == 6);
  const at::Tensor x = random_tensor({2, 4, 5, 4}, 5, at::kDouble);
  CHECK(distance(plain.forward(p, x, {}), by_parts(p, x, 1, x)) == 0);
}

TEST_CASE("a block that changes the shape adds a projection of every second pixel") {
  const auto p = random_parameters(halving, 1, at::kDouble);
  REQUIRE(p.size() == 7);
  const at::Tensor x = random_tensor({2, 4, 6, 4}, 5, at::kDouble);
  const at::Tensor pixels = x.slice(2, 0, 6, 2).slice(3, 0, 4, 2);  // [2, 4, 3, 2]
  const at::Tensor skip = p[6].view({8, 4}).matmul(pixels.reshape({2, 4, 6})).view({2, 8, 3, 2});
  CHECK(distance(halving.forward(p, x, {}), by_parts(p, x, 2, skip)) < 1e-12);
}

TEST_CASE("both kinds of blocks conform") {
  const at::Tensor x = random_tensor({2, 4, 5, 4}, 5);
  conforms(plain, x);
  conforms(halving, x);
}

TEST_CASE("a block's computed shapes are those of its output, down to one pixel") {
  for (const residual_block& block : {plain, halving})
    for (const std::int64_t size : {1, 2, 5}) {
      const auto y = block.forward(random_parameters(block, 1), random_tensor({2, 4, size, 3}, 5), {});
      CHECK(y.sizes().vec() == block.output({{2, 4, size, 3}, element::f32}).shape);
    }
}

TEST_CASE("a block's output is in C order, down to one pixel") {
  for (const residual_block& block : {plain, halving})
    for (const std::int64_t size : {1, 2, 8}) {
      const auto y = block.forward(random_parameters(block, 1), random_tensor({2, 4, size, size}, 5), {});
      CHECK(y.strides() == zeros(y.sizes().vec()).strides());
    }
}

TEST_CASE("a block refuses images of other channels and groups that do not divide") {
  CHECK_THROWS_WITH(plain.output({{2, 3, 5, 4}, element::f32}), Contains("wants images of 4 channels"));
  CHECK_THROWS_AS(plain.output({{2, 4}, element::f32}), fault_error);
  CHECK_THROWS_WITH((residual_block{{.in = 4, .out = 4, .groups = 3}}), Contains("3 groups do not divide width 4"));
  CHECK(plain.signature() != halving.signature());
}
