#include "models/layers/batch_norm.hpp"

#include "models/running_average.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <ATen/ops/batch_norm_ops.h>
#include <c10/core/GradMode.h>
#include <catch2/catch.hpp>

#include <cmath>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t channels = 3;

/// Random scale and shift, running averages that are not at their initial values; all are leaves, as in a visit.
std::vector<at::Tensor> leaves(at::ScalarType type = at::kFloat) {
  std::vector<at::Tensor> all{random_tensor({channels}, 1, type), random_tensor({channels}, 2, type),
                              random_tensor({channels}, 3, type), random_tensor({channels}, 4, type).abs().add(0.5)};
  for (at::Tensor& each : all) each.set_requires_grad(true);
  return all;
}

at::Tensor micro_batch(std::uint64_t k, at::ScalarType type = at::kFloat) {
  return random_tensor({4, channels, 5, 3}, 10 + k, type).mul(1.0 + static_cast<double>(k)).add(2.0);
}

at::Tensor torch_batch_norm(const at::Tensor& x, const std::vector<at::Tensor>& p, const at::Tensor& mean,
                            const at::Tensor& variance, bool training) {
  return at::_ops::batch_norm::call(x, p[0], p[1], mean, variance, training, 0.1, 1e-5, false);
}

void update(at::Tensor& average, std::uint32_t micro_batches) {
  const at::Tensor slice = average.grad().contiguous();
  c10::NoGradGuard no_grad;
  apply_average(0.1, micro_batches, values(average), values(slice));
  average.mutable_grad().reset();
}

}  // namespace

TEST_CASE("batch norm in training and its gradients are torch's") {
  const auto ours = leaves(), torch = leaves();
  const at::Tensor x = micro_batch(0).set_requires_grad(true), same_x = micro_batch(0).set_requires_grad(true);
  const at::Tensor weights = random_tensor({4, channels, 5, 3}, 5);
  const at::Tensor y = batch_norm(x, ours, {});
  const at::Tensor expected =
      torch_batch_norm(same_x, torch, torch[2].detach().clone(), torch[3].detach().clone(), true);
  CHECK(same_bits(y.detach(), expected.detach()));
  y.mul(weights).sum().backward();
  expected.mul(weights).sum().backward();
  CHECK(same_bits(x.grad(), same_x.grad()));
  CHECK(same_bits(ours[0].grad(), torch[0].grad()));
  CHECK(same_bits(ours[1].grad(), torch[1].grad()));
}

TEST_CASE("the derivatives of batch norm are those of its values") {
  const auto p = leaves(at::kDouble);
  const at::Tensor x = micro_batch(0, at::kDouble).set_requires_grad(true);
  const at::Tensor weights = random_tensor({4, channels, 5, 3}, 5, at::kDouble);
  const std::vector<at::Tensor> trained{x, p[0], p[1]};
  CHECK(gradient_error([&] { return batch_norm(x, p, {}).mul(weights).sum(); }, trained) < 1e-7);
}

TEST_CASE("outside training batch norm uses the running averages") {
  const auto p = leaves();
  const at::Tensor x = micro_batch(0);
  const at::Tensor y = batch_norm(x, p, {.training = false});
  CHECK(same_bits(y.detach(), torch_batch_norm(x, p, p[2].detach(), p[3].detach(), false).detach()));
  CHECK(distance(y, batch_norm(x, p, {})) > 0.1);
}

TEST_CASE("running averages follow torch's over steps of one micro-batch and of four") {
  const std::uint32_t micro_batches = GENERATE(1u, 4u);
  auto ours = leaves();
  const auto torch = leaves();
  const at::Tensor mean = torch[2].detach().clone(), variance = torch[3].detach().clone();
  for (std::uint64_t step = 0; step < 3; ++step) {
    for (std::uint64_t k = 0; k < micro_batches; ++k) {
      const at::Tensor x = micro_batch(step * micro_batches + k);
      torch_batch_norm(x, torch, mean, variance, true);
      batch_norm(x, ours, {}).sum().backward();
    }
    update(ours[2], micro_batches);
    update(ours[3], micro_batches);
    CHECK(distance(ours[2], mean) < 1e-6 * (1 + number(mean.abs().max())));
    CHECK(distance(ours[3], variance) < 1e-6 * (1 + number(variance.abs().max())));
  }
}

TEST_CASE("the averages' gradients are the same whether they start undefined or at zero") {
  const auto none = leaves(), zeroed = leaves();
  for (const auto& each : zeroed) each.mutable_grad() = zeros({channels});
  for (const auto& p : {none, zeroed})
    for (const std::uint64_t k : {0, 1, 2}) batch_norm(micro_batch(k), p, {}).sum().backward();
  CHECK(same_bits(none[2].grad(), zeroed[2].grad()));
  CHECK(same_bits(none[3].grad(), zeroed[3].grad()));
}

TEST_CASE("a forward without gradient changes nothing and gives the same bits as one with it") {
  const auto p = leaves(), before = leaves();
  const at::Tensor with = batch_norm(micro_batch(0), p, {}).detach();
  c10::NoGradGuard no_grad;
  CHECK(same_bits(with, batch_norm(micro_batch(0), p, {})));
  for (std::size_t i = 0; i < p.size(); ++i) {
    CHECK(same_bits(p[i], before[i]));
    CHECK_FALSE(p[i].grad().defined());
  }
}

TEST_CASE("batch norm of zeros is finite") {
  const auto p = leaves();
  const at::Tensor x = zeros({2, channels, 2, 2}).set_requires_grad(true);
  batch_norm(x, p, {}).sum().backward();
  for (const at::Tensor& g : {x.grad(), p[0].grad(), p[2].grad(), p[3].grad()})
    CHECK(std::isfinite(number(g.abs().max())));
}

TEST_CASE("batch norm refuses a single value per channel in training, and accepts it in evaluation") {
  const auto p = leaves();
  CHECK_THROWS_WITH(batch_norm(zeros({1, channels, 1, 1}), p, {}), Contains("no variance"));
  CHECK_NOTHROW(batch_norm(zeros({1, channels, 1, 1}), p, {.training = false}));
}
