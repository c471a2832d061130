#include "models/loss.hpp"

#include "runtime/base/fault.hpp"
#include "tests/conformance/loss.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

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

TEST_CASE("the squared error of classes is torch's mean over all values, times the number of targets") {
  const at::Tensor output = random_tensor({2, 3, 5}, 1), targets = random_ids({2, 3}, 5, 2);
  const at::Tensor one_hot = zeros({2, 3, 5}).scatter_(-1, targets.unsqueeze(-1), 1);
  const at::Tensor sum = mse()->sum(output, targets);
  CHECK(sum.dim() == 0);
  CHECK(number(sum) / 6 == Approx(number(output.sub(one_hot).square().mean())).epsilon(1e-6));
}

TEST_CASE("the squared error of real targets is a sum over values") {
  const at::Tensor output = random_tensor({4, 3}, 1), targets = random_tensor({4, 3}, 2);
  CHECK(number(mse()->sum(output, targets)) == Approx(number(output.sub(targets).square().sum())).epsilon(1e-6));
}

TEST_CASE("a masked class contributes no squared error and no gradient, whatever its output") {
  const at::Tensor output = random_tensor({2, 4}, 1);
  values(output)[0] = NAN;
  output.set_requires_grad(true);
  const at::Tensor targets = random_ids({2}, 4, 2), second = targets.slice(0, 1);
  targets.mutable_data_ptr<std::int64_t>()[0] = -100;
  mse()->sum(output, targets).backward();
  CHECK(number(mse()->sum(output, targets)) == number(mse()->sum(output.slice(0, 1), second)));
  CHECK(number(output.grad()[0].abs().max()) == 0);
  CHECK(number(output.grad()[1].abs().max()) > 0);
}

TEST_CASE("all losses conform, on classes of samples and of tokens, and on real targets") {
  for (const std::string& name : loss_names()) {
    conforms(*make_loss(name), random_tensor({5, 4}, 1), random_ids({5}, 4, 2));
    conforms(*make_loss(name), random_tensor({4, 3, 7}, 1), random_ids({4, 3}, 7, 2));
  }
  conforms(*mse(), random_tensor({3, 4}, 1), random_tensor({3, 4}, 3));
}

TEST_CASE("losses count the targets that have the largest output, but not masked ones") {
  const at::Tensor output = zeros({2, 2, 3}), targets = zeros({2, 2}, at::kLong);
  for (const int i : {2, 3, 8, 9}) values(output)[static_cast<std::size_t>(i)] = 1;  // classes 2, 0, 2, 0
  const auto classes = targets.mutable_data_ptr<std::int64_t>();
  classes[0] = 2, classes[1] = 1, classes[2] = -100, classes[3] = 0;
  for (const auto& l : {cross_entropy(), mse()}) {
    CHECK(l->counts_correct());
    const at::Tensor correct = l->correct(output.set_requires_grad(true), targets).value();
    CHECK(number(correct) == 2);
    CHECK(correct.dim() == 0);
    CHECK(correct.scalar_type() == at::kFloat);
    CHECK_FALSE(correct.requires_grad());
  }
}

TEST_CASE("real targets are not counted as correct or wrong") {
  CHECK_FALSE(mse()->correct(random_tensor({2, 3}, 1), random_tensor({2, 3}, 2)).has_value());
}

TEST_CASE("targets that do not fit the output are refused, not broadcast") {
  const at::Tensor output = random_tensor({2, 3}, 1);
  CHECK_THROWS_WITH(mse()->sum(output, random_tensor({2, 1}, 2)), Contains("[2, 3]") && Contains("must be equal"));
  for (const auto& l : {cross_entropy(), mse()}) {
    CHECK_THROWS_WITH(l->sum(output, random_ids({3}, 3, 2)), Contains(l->name()) && Contains("Long targets [3]"));
    CHECK_THROWS_AS(l->correct(output, random_ids({3}, 3, 2)), fault_error);
  }
  CHECK_THROWS_WITH(cross_entropy()->sum(output, random_tensor({2}, 2)), Contains("Float targets [2]"));
}

TEST_CASE("a loss is found by its name, an unknown one names the nearest") {
  for (const std::string& name : loss_names()) CHECK(make_loss(name)->name() == name);
  CHECK_THROWS_WITH(make_loss("mes"), Contains("unknown loss \"mes\"") && Contains("did you mean \"mse\""));
  CHECK_THROWS_WITH(make_loss("huber"), Contains("unknown loss \"huber\" (known: "));
}
