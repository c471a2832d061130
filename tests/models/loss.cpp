#include "models/loss.hpp"

#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

TEST_CASE("cross entropy sums minus the log-probability of each target") {
  const at::Tensor logits = random_tensor({2, 3, 5}, 1), targets = random_ids({2, 3}, 5, 2);
  const at::Tensor logp = logits.log_softmax(-1);
  const at::Tensor expected = logp.gather(-1, targets.unsqueeze(-1)).sum().neg();
  const at::Tensor sum = cross_entropy()->sum(logits, targets);
  CHECK(sum.dim() == 0);
  CHECK(number(sum) == Approx(number(expected)).epsilon(1e-6));
}

TEST_CASE("a target of -100 contributes nothing to loss or gradient") {
  const at::Tensor logits = random_tensor({3, 5}, 1).set_requires_grad(true);
  const at::Tensor targets = random_ids({3}, 5, 2);
  targets.mutable_data_ptr<std::int64_t>()[1] = -100;
  cross_entropy()->sum(logits, targets).backward();
  CHECK(number(logits.grad()[1].abs().max()) == 0);
  CHECK(number(logits.grad()[0].abs().max()) > 0);
  targets.fill_(-100);
  CHECK(number(cross_entropy()->sum(logits, targets)) == 0);
}

TEST_CASE("the gradient of cross entropy is softmax minus one-hot") {
  const at::Tensor logits = random_tensor({3, 5}, 1).set_requires_grad(true);
  const at::Tensor targets = random_ids({3}, 5, 2);
  cross_entropy()->sum(logits, targets).backward();
  const at::Tensor one_hot = zeros({3, 5}).scatter_(1, targets.unsqueeze(1), 1);
  CHECK(distance(logits.grad(), logits.detach().softmax(-1).sub(one_hot)) < 1e-6);
}
