#include "models/layers/linear_map.hpp"

#include "models/dropout.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

TEST_CASE("magnitudes scale what a dropout leaves of the map and of what is added to it, as in PEFT") {
  const at::Tensor w = random_tensor({4, 3}, 1), bias = random_tensor({4}, 2), a = random_tensor({2, 3}, 3),
                   b = random_tensor({4, 2}, 4), magnitude = random_tensor({4}, 5), x = random_tensor({2, 5, 3}, 6);
  const at::Tensor factor = magnitude.div(w.add(b.mm(a), 0.7).pow(2).sum({1}).sqrt());
  for (const bool transposed : {false, true})
    for (const bool training : {false, true}) {
      const low_rank_term term{.weight = 0,
                               .a = 2,
                               .b = 3,
                               .magnitude = 4,
                               .order = transposed ? linear_weight::in_out : linear_weight::out_in,
                               .scale = 0.7,
                               .dropout = 0.5,
                               .site = 1};
      const layer_context context{.training = training, .low_rank = {&term, 1}};
      const std::vector<at::Tensor> all{transposed ? w.t().contiguous() : w, bias, a, b, magnitude};
      const at::Tensor y = transposed ? linear_map_in_out(all, 0, x, context) : linear_map(all, {0, 1}, x, context);
      const at::Tensor left = keyed_dropout(x, 0.5, context, 1);
      const at::Tensor scaled = left.matmul(w.t()).mul(factor.sub(1)),
                       added = left.matmul(a.t()).matmul(b.t()).mul(factor);
      CHECK(distance(y, x.matmul(w.t()).add(bias).add(scaled).add(added, 0.7)) < 1e-5);
    }
}
