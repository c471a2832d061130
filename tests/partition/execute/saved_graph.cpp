#include "partition/execute/saved_graph.hpp"

#include "partition/execute/shard.hpp"
#include "tests/models/numeric.hpp"
#include "tests/support/small_models.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace saved_graph_test {

std::shared_ptr<const sharded_model> gpt() {
  const auto m = small_gpt({.layers = 2, .width = 16, .heads = 2, .context = 6, .dropout = 0.1, .tied = false});
  return cut_model(m, {.cuts = {0, 1, 3}, .micro_batches = 2, .samples = 2});
}

at::Tensor parameters_of(const sharded_model& m, std::size_t s) {
  const auto flat = zeros({static_cast<std::int64_t>(m.shards[s].layout().elements())});
  m.shards[s].layout().initialise(values(flat), *m.model, m.seed);
  return flat;
}

visit_context where(std::uint32_t micro_batch) {
  return {.seed = 7, .step = 3, .micro_batch = micro_batch, .targets = 24, .lowest_trained = false};
}

/// The values of a buffer in another place.
at::Tensor moved(const at::Tensor& t) { return t.clone(); }

TEST_CASE("a backward visit has the same bits from what the forward visit saved, wherever its blocks are then") {
  const auto m = gpt();
  const auto& shard = m->shards[1];
  const auto home = parameters_of(*m, 1);
  const auto expected = zeros({home.numel()}), sum = zeros({home.numel()});
  const auto plain = shard.bind(home, expected), bound = shard.bind(moved(home), sum);
  for (const std::uint32_t k : {0u, 1u}) {
    const auto input = random_tensor({2, 6, 16}, 3 + k), upstream = random_tensor({2, 6, 16}, 9 + k);
    saved_graph graph;
    {
      const auto flat = moved(home), x = moved(input);
      const auto y = shard.forward_saving(flat, x, where(k), graph);
      CHECK(same_bits(y, shard.forward(home, input, where(k))));
      CHECK(!y.requires_grad());
      CHECK(flat.storage().use_count() == 1);  // what is saved does not hold the blocks
      CHECK(x.storage().use_count() == 1);
      flat.fill_(1e9);
      x.fill_(1e9);
    }
    const auto result = shard.backward_saved(bound, {moved(home), moved(input)}, upstream, graph);
    CHECK(same_bits(result.input_gradient, shard.backward(plain, input, upstream, where(k)).input_gradient));
  }
  CHECK(same_bits(sum, expected));
}

TEST_CASE("a saved graph is used once, and one that was not recorded never") {
  const auto m = gpt();
  const auto& shard = m->shards[1];
  const auto flat = parameters_of(*m, 1), gradients = zeros({flat.numel()});
  const auto bound = shard.bind(flat, gradients);
  const auto x = random_tensor({2, 6, 16}, 3), upstream = random_tensor({2, 6, 16}, 9);
  saved_graph graph;
  CHECK_THROWS(shard.backward_saved(bound, {flat, x}, upstream, graph));
  shard.forward_saving(flat, x, where(0), graph);
  shard.backward_saved(bound, {flat, x}, upstream, graph);
  CHECK_THROWS(shard.backward_saved(bound, {flat, x}, upstream, graph));
}

TEST_CASE("the input has no gradient where nothing below the shard is trained") {
  const auto m = gpt();
  const auto& shard = m->shards[1];
  const auto flat = parameters_of(*m, 1), gradients = zeros({flat.numel()});
  auto last = where(0);
  last.lowest_trained = true;
  saved_graph graph;
  const auto x = random_tensor({2, 6, 16}, 3);
  shard.forward_saving(flat, x, last, graph);
  const auto result = shard.backward_saved(shard.bind(flat, gradients), {flat, x}, random_tensor({2, 6, 16}, 9), graph);
  CHECK(!result.input_gradient.defined());
  CHECK(gradients.abs().max().item<float>() > 0);
}

}  // namespace saved_graph_test
