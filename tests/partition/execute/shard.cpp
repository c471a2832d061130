#include "partition/execute/shard.hpp"

#include "partition/execute/shard_tensors.hpp"
#include "partition/execute/sharded_model.hpp"
#include "tests/models/numeric.hpp"
#include "tests/support/small_models.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace hydra;
using namespace hydra::test;

namespace {

/// A chain cut into shards, with one flat buffer of parameters and gradients each.
struct cut_chain {
  explicit cut_chain(const cut_points& cuts) : shards(make_shards(gpt().body, cuts)) {
    for (const auto& s : shards) {
      const auto n = static_cast<std::int64_t>(s.layout().elements());
      parameters.push_back(zeros({n}));
      s.layout().initialise(values(parameters.back()), *gpt().body, 1);
      gradients.push_back(zeros({n}));
      bound.push_back(s.bind(parameters.back(), gradients.back()));
    }
  }

  static const small_model& gpt() {
    static const auto m =
        small_gpt({.layers = 2, .width = 16, .heads = 2, .context = 6, .dropout = 0.1, .tied = false});
    return m;
  }

  /// Forward through all shards but the last, then backward through all; returns the loss.
  at::Tensor train(const visit_context& where, const at::Tensor& ids, const at::Tensor& targets) {
    boundaries.assign(1, ids);
    for (std::size_t s = 0; s + 1 < shards.size(); ++s) {
      boundaries.push_back(shards[s].forward(parameters[s], boundaries[s], where));
    }
    at::Tensor upstream = targets;
    at::Tensor loss;
    for (std::size_t s = shards.size(); s-- > 0;) {
      auto result = shards[s].backward(bound[s], boundaries[s], upstream, where);
      loss = s + 1 == shards.size() ? result.loss : loss;
      upstream = result.input_gradient;
    }
    CHECK_FALSE(upstream.defined());  // ids have no gradient
    return loss;
  }

  std::map<std::string, std::vector<float>> named_gradients() const {
    std::map<std::string, std::vector<float>> named;
    for (std::size_t s = 0; s < shards.size(); ++s) {
      const auto flat = values(gradients[s]);
      for (const auto& p : shards[s].layout().parameters()) {
        const auto slice = flat.subspan(p.offset, p.elements);
        named[p.name].assign(slice.begin(), slice.end());
      }
    }
    return named;
  }

  std::vector<shard> shards;
  std::vector<at::Tensor> parameters, gradients, boundaries;
  std::vector<bound_parameters> bound;
};

const at::Tensor ids = random_ids({2, 6}, 11, 1);
const at::Tensor targets = random_ids({2, 6}, 11, 2);
const visit_context first{.seed = 5, .step = 3, .micro_batch = 0, .targets = 24};
const visit_context second{.seed = 5, .step = 3, .micro_batch = 1, .targets = 24};

}  // namespace

TEST_CASE("cut into shards a chain gives the loss and the gradients of the whole, bit for bit") {
  cut_chain whole({0});
  cut_chain pieces(GENERATE(cut_points{0, 2}, cut_points{0, 1, 3}, cut_points{0, 1, 2, 3}));
  CHECK(same_bits(whole.train(first, ids, targets), pieces.train(first, ids, targets)));
  CHECK(whole.named_gradients() == pieces.named_gradients());
}

TEST_CASE("the forward of two shards is the forward of one, bit for bit") {
  cut_chain one({0, 3});
  cut_chain two({0, 2, 3});
  const auto y = one.shards[0].forward(one.parameters[0], ids, first);
  const auto half = two.shards[0].forward(two.parameters[0], ids, first);
  CHECK(same_bits(y, two.shards[1].forward(two.parameters[1], half, first)));
  CHECK_FALSE(y.requires_grad());
}

TEST_CASE("gradients of micro-batches accumulate in the bound buffer") {
  cut_chain together({0, 2});
  cut_chain alone({0, 2});
  together.train(first, ids, targets);
  const auto before = together.named_gradients();
  together.train(second, targets, ids);
  alone.train(second, targets, ids);
  auto sum = alone.named_gradients();
  for (auto& [name, gradient] : sum) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = before.at(name)[i] + gradient[i];
    }
  }
  CHECK(together.named_gradients() == sum);
}

TEST_CASE("the recomputation draws the forward's random numbers; another micro-batch draws others") {
  cut_chain c({0, 3});
  const auto y = c.shards[0].forward(c.parameters[0], ids, first);
  CHECK(same_bits(y, c.shards[0].forward(c.parameters[0], ids, first)));
  CHECK_FALSE(same_bits(y, c.shards[0].forward(c.parameters[0], ids, second)));
}

TEST_CASE("a micro-batch's loss is its part of the step's: the sum over its targets divided by those of the step") {
  cut_chain c({0});
  auto all = first;
  all.targets = 12;
  CHECK(number(c.train(all, ids, targets)) == Approx(2 * number(c.train(first, ids, targets))));
}
