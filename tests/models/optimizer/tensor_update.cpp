#include "models/optimizer/tensor_update.hpp"

#include "models/optimizer/update_rule.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

#include <cstring>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace tensor_update_test {

struct state {
  explicit state(std::int64_t n)
      : p(random_tensor({n}, 1)), m(zeros({n})), v(zeros({n})), copy(zeros({n}).to(at::kBFloat16)) {}
  at::Tensor p, m, v, copy;
};

std::span<std::uint16_t> halves(const at::Tensor& t) {
  return {static_cast<std::uint16_t*>(t.mutable_data_ptr()), static_cast<std::size_t>(t.numel())};
}

bool same(const state& a, const state& b) {
  const auto bytes = static_cast<std::size_t>(a.copy.numel()) * 2;
  return same_bits(a.p, b.p) && same_bits(a.m, b.m) && same_bits(a.v, b.v) &&
         std::memcmp(a.copy.const_data_ptr(), b.copy.const_data_ptr(), bytes) == 0;
}

at::Tensor if_wanted(bool wanted, const at::Tensor& t) { return wanted ? t : at::Tensor{}; }

TEST_CASE("an update of tensors gives the bits of the update of buffers, whatever the rule and the length") {
  const auto rule =
      GENERATE(adamw({.learning_rate = 3e-3, .weight_decay = 0.1}), sgd({.learning_rate = 0.05, .weight_decay = 0.01}),
               sgd({.learning_rate = 0.05, .momentum = 0.9}),
               sgd({.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true}),
               lion({.learning_rate = 0.05, .weight_decay = 0.1}));
  const std::int64_t n = GENERATE(1, 13, 64, 200003);
  const bool one = moment_buffers(rule) > 0, two = moment_buffers(rule) > 1;
  state here(n), there(n);
  for (std::uint32_t step = 0; step < 5; ++step) {
    const auto g = random_tensor({n}, 10 + step);
    apply_update(rule, step, 5, 1.0F,
                 {.parameters = values(here.p),
                  .gradients = values(g),
                  .first_moment = one ? values(here.m) : std::span<float>{},
                  .second_moment = two ? values(here.v) : std::span<float>{},
                  .copy = halves(here.copy)});
    apply_update(constants_of(rule, step, 5, 1.0F),
                 update_tensors{.parameters = there.p,
                                .gradients = g,
                                .first_moment = if_wanted(one, there.m),
                                .second_moment = if_wanted(two, there.v),
                                .copy = there.copy});
    REQUIRE(same(here, there));
  }
}

TEST_CASE("constants survive the dispatcher's list of numbers") {
  const auto rule = sgd({.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true});
  for (const auto& c : {constants_of(rule, 0, 3, 0.5F), constants_of(adamw({.learning_rate = 1e-3}), 2, 3, 0.25F)}) {
    const auto numbers = numbers_of(c);
    const auto again = constants_from(numbers.data());
    CHECK(numbers_of(again) == numbers);
    CHECK(again.rule == c.rule);
    CHECK(again.first_step == c.first_step);
    CHECK(again.sgd.rate == c.sgd.rate);
    CHECK(again.adamw.eps == c.adamw.eps);
  }
}

TEST_CASE("an update of tensors with different lengths is refused") {
  const auto constants = constants_of(adamw({}), 0, 1, 1.0F);
  CHECK_THROWS_WITH(apply_update(constants, update_tensors{zeros({4}), zeros({3}), zeros({4}), zeros({4})}),
                    Contains("update of 4"));
  CHECK_THROWS_AS(
      apply_update(constants, update_tensors{zeros({4}), zeros({4}), zeros({4}).to(at::kDouble), zeros({4})}),
      fault_error);
  CHECK_THROWS_AS(apply_update(constants, update_tensors{zeros({4}), zeros({4}), zeros({4})}),
                  fault_error);  // a moment is missing
}

TEST_CASE("a device whose plug-in has no kernel for updates is refused with what to do") {
  const auto there = [](const at::Tensor& t) { return t.to(at::kMeta); };
  const update_tensors tensors{there(zeros({4})), there(zeros({4})), there(zeros({4})), there(zeros({4}))};
  CHECK_THROWS_WITH(apply_update(constants_of(adamw({}), 0, 1, 1.0F), tensors),
                    Contains("hydra::update_") && Contains("optimizer_on"));
}

}  // namespace tensor_update_test
