#include "tests/conformance/loss.hpp"

#include "models/data_source.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <ATen/core/Tensor.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

namespace hydra::test {

namespace {

struct batch {
  at::Tensor output, targets;

  std::int64_t samples() const { return output.size(0); }
  batch part(std::int64_t begin, std::int64_t end) const {
    return {output.narrow(0, begin, end - begin), targets.narrow(0, begin, end - begin)};
  }
  std::pair<batch, batch> halves() const { return {part(0, samples() / 2), part(samples() / 2, samples())}; }
  bool has_classes() const { return targets.scalar_type() == at::kLong; }
};

struct outcome {
  at::Tensor sum, gradient;
};

outcome evaluate(const loss& l, const batch& b) {
  const at::Tensor x = b.output.detach().clone().set_requires_grad(true);
  const at::Tensor sum = l.sum(x, b.targets);
  REQUIRE(sum.dim() == 0);
  REQUIRE(sum.scalar_type() == at::kFloat);
  REQUIRE(sum.requires_grad());
  sum.backward();
  REQUIRE(x.grad().defined());
  return {sum.detach(), x.grad()};
}

double largest(const at::Tensor& t) { return number(t.abs().max()); }

/// The targets of the first half are masked.
batch half_masked(const batch& b) {
  const batch masked{b.output, b.targets.clone()};
  masked.halves().first.targets.fill_(uncounted_target);
  return masked;
}

// -- requirements ---

void the_sum_is_finite_and_pure(const loss& l, const batch& b) {
  const batch before{b.output.clone(), b.targets.clone()};
  const outcome one = evaluate(l, b), again = evaluate(l, b);
  CHECK(std::isfinite(number(one.sum)));
  CHECK(std::isfinite(largest(one.gradient)));
  CHECK(same_bits(one.sum, again.sum));
  CHECK(same_bits(one.gradient, again.gradient));
  CHECK(same_bits(b.output, before.output));
  CHECK(same_bits(b.targets, before.targets));
  CHECK_FALSE(l.name().empty());
}

void halves_make_the_whole(const loss& l, const batch& b) {
  const auto [first, second] = b.halves();
  const outcome whole = evaluate(l, b), one = evaluate(l, first), other = evaluate(l, second);
  CHECK(number(one.sum) + number(other.sum) == Approx(number(whole.sum)).epsilon(1e-4).margin(1e-6));
  const double tolerance = 1e-4 * largest(whole.gradient);
  CHECK(distance(whole.gradient.narrow(0, 0, first.samples()), one.gradient) <= tolerance);
  CHECK(distance(whole.gradient.narrow(0, first.samples(), second.samples()), other.gradient) <= tolerance);
}

/// Some losses have tensors of their own in fp32.
bool sums_in_fp64(const loss& l, const batch& b) {
  try {
    return l.sum(b.output, b.targets).scalar_type() == at::kDouble;
  } catch (const std::exception&) {
    return false;
  }
}

void the_gradient_is_the_derivative(const loss& l, const batch& b) {
  const at::Tensor x = b.output.to(at::kDouble).set_requires_grad(true);
  const at::Tensor targets = b.has_classes() ? b.targets : b.targets.to(at::kDouble);
  if (!sums_in_fp64(l, {x, targets})) {
    WARN("the loss does not compute in fp64: its gradient was not compared with numerical derivatives");
    return;
  }
  const std::vector<at::Tensor> leaf{x};
  CHECK(gradient_error([&] { return l.sum(x, targets); }, leaf) < 1e-5);
}

void masked_targets_add_nothing(const loss& l, const batch& b) {
  if (!l.masks() || !b.has_classes()) return;
  const auto [first, second] = b.halves();
  const outcome masked = evaluate(l, half_masked(b)), counted = evaluate(l, second);
  CHECK(number(masked.sum) == Approx(number(counted.sum)).epsilon(1e-4).margin(1e-6));
  CHECK(largest(masked.gradient.narrow(0, 0, first.samples())) == 0);
  const at::Tensor none = b.targets.clone().fill_(uncounted_target);
  CHECK(number(evaluate(l, {b.output, none}).sum) == 0);
}

double counted_correct(const loss& l, const batch& b) {
  const auto n = l.correct(b.output.detach().clone().set_requires_grad(true), b.targets);
  REQUIRE(n.has_value());
  REQUIRE(n->dim() == 0);
  CHECK(n->scalar_type() == at::kFloat);
  CHECK_FALSE(n->requires_grad());
  return number(*n);
}

void correct_counts_targets(const loss& l, const batch& b) {
  if (!l.counts_correct() || !b.has_classes()) return;
  const auto [first, second] = b.halves();
  CHECK(counted_correct(l, first) + counted_correct(l, second) == counted_correct(l, b));
  const batch right{b.output, b.output.argmax(-1)};
  CHECK(counted_correct(l, right) == static_cast<double>(b.targets.numel()));
  if (l.masks()) CHECK(counted_correct(l, half_masked(right)) == static_cast<double>(second.targets.numel()));
}

void targets_that_do_not_fit_are_refused(const loss& l, const batch& b) {
  const at::Tensor fewer = b.targets.narrow(0, 0, b.samples() - 1);
  CHECK_THROWS_AS(l.sum(b.output, fewer), fault_error);
  if (l.counts_correct() && b.has_classes()) CHECK_THROWS_AS(l.correct(b.output, fewer), fault_error);
}

}  // namespace

void conforms(const loss& l, const at::Tensor& output, const at::Tensor& targets) {
  INFO(l.name());
  REQUIRE(output.dim() > 0);
  REQUIRE(output.size(0) > 1);
  REQUIRE(targets.dim() > 0);
  REQUIRE(targets.size(0) == output.size(0));
  const batch b{output.detach(), targets};
  the_sum_is_finite_and_pure(l, b);
  halves_make_the_whole(l, b);
  the_gradient_is_the_derivative(l, b);
  masked_targets_add_nothing(l, b);
  correct_counts_targets(l, b);
  targets_that_do_not_fit_are_refused(l, b);
}

}  // namespace hydra::test
