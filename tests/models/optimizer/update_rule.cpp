#include "models/optimizer/update_rule.hpp"

#include "models/optimizer/parameter_rule.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <ATen/ops/_fused_adamw_ops.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

struct buffers {
  explicit buffers(std::int64_t n) : p(random_tensor({n}, 1)), m(zeros({n})), v(zeros({n})) {}
  update_slices slices(const at::Tensor& g) { return {values(p), values(g), values(m), values(v)}; }
  at::Tensor p, m, v;
};

at::Tensor gradient(std::int64_t n, std::uint32_t step) { return random_tensor({n}, 10 + step).mul(0.1); }

bool same(const buffers& a, const buffers& b) {
  return same_bits(a.p, b.p) && same_bits(a.m, b.m) && same_bits(a.v, b.v);
}

void fused_adamw(const update_options& o, std::uint32_t step, buffers& b, const at::Tensor& g) {
  const std::vector<at::Tensor> p{b.p}, gs{g}, m{b.m}, v{b.v}, t{zeros({1}).fill_(step + 1.0)};
  at::_ops::_fused_adamw_::call(p, gs, m, v, {}, t, o.learning_rate, o.beta1, o.beta2, o.weight_decay, o.eps, false,
                                false, {}, {});
}

/// torch.optim.AdamW, one tensor at a time.
void torch_adamw(const update_options& o, std::uint32_t step, buffers& b, const at::Tensor& g) {
  const double t = step + 1.0, bc1 = 1 - std::pow(o.beta1, t), bc2 = 1 - std::pow(o.beta2, t);
  b.p.mul_(1 - o.learning_rate * o.weight_decay);
  b.m.lerp_(g, 1 - o.beta1);
  b.v.mul_(o.beta2).addcmul_(g, g, 1 - o.beta2);
  b.p.addcdiv_(b.m, b.v.sqrt().div(std::sqrt(bc2)).add(o.eps), -o.learning_rate / bc1);
}

/// torch.optim.SGD. `b.m` is the momentum buffer.
void torch_sgd(const update_options& o, std::uint32_t step, buffers& b, at::Tensor g) {
  if (o.weight_decay != 0) g = g.add(b.p, o.weight_decay);
  if (o.momentum != 0) {
    if (step == 0)
      b.m.copy_(g);
    else
      b.m.mul_(o.momentum).add_(g);
    g = o.nesterov ? g.add(b.m, o.momentum) : b.m;
  }
  b.p.add_(g, -o.learning_rate);
}

/// lion-pytorch 0.2, lion_pytorch.py, update_fn.
void plain_lion(const update_options& o, buffers& b, const at::Tensor& g) {
  b.p.mul_(1 - o.learning_rate * o.weight_decay);
  const at::Tensor update = b.m.clone().mul_(o.beta1).add(g, 1 - o.beta1).sign_();
  b.p.add_(update, -o.learning_rate);
  b.m.mul_(o.beta2).add_(g, 1 - o.beta2);
}

const std::vector<std::int64_t> vector{5}, matrix{5, 7}, filters{3, 3, 3, 3};

const update_options hard{.learning_rate = 3e-3, .weight_decay = 0.1, .beta2 = 0.95};
constexpr std::uint32_t steps = 20;

}  // namespace

TEST_CASE("adamw has the bits of at::_fused_adamw_ on multiples of 8") {
  for (const std::int64_t n : {8, 64, 1000, 4096}) {
    buffers ours{n}, fused{n};
    for (std::uint32_t step = 0; step < steps; ++step) {
      apply_update(hard, step, steps, 1, ours.slices(gradient(n, step)));
      fused_adamw(hard, step, fused, gradient(n, step));
    }
    CHECK(same(ours, fused));
  }
}

TEST_CASE("adamw is within one unit in the last place of the update of torch.optim.AdamW") {
  buffers ours{1000}, torch{1000};
  for (std::uint32_t step = 0; step < steps; ++step) {
    const std::vector<float> before = copy_of(ours.p);
    apply_update(hard, step, steps, 1, ours.slices(gradient(1000, step)));
    torch_adamw(hard, step, torch, gradient(1000, step));
    for (std::size_t i = 0; i < before.size(); ++i) {
      const float x = values(ours.p)[i], y = values(torch.p)[i], update = std::abs(x - before[i]);
      const float ulp = std::nextafter(update, INFINITY) - update + std::nextafter(std::abs(x), INFINITY) - std::abs(x);
      REQUIRE(std::abs(x - y) <= ulp);
    }
    torch = ours;  // the next step starts from equal values
    torch.p = ours.p.clone(), torch.m = ours.m.clone(), torch.v = ours.v.clone();
  }
}

TEST_CASE("adamw treats every element alike: splitting a buffer anywhere gives the same bits") {
  buffers whole{1001}, parts{1001};
  for (std::uint32_t step = 0; step < steps; ++step) {
    const at::Tensor g = gradient(1001, step);
    apply_update(hard, step, steps, 0.7f, whole.slices(g));
    const update_slices all = parts.slices(g);
    for (std::size_t begin = 0, end = 1; begin < 1001; begin = end, end = std::min<std::size_t>(1001, 3 * end + 1)) {
      const std::size_t n = end - begin;
      apply_update(hard, step, steps, 0.7f,
                   {all.parameters.subspan(begin, n), all.gradients.subspan(begin, n),
                    all.first_moment.subspan(begin, n), all.second_moment.subspan(begin, n)});
    }
  }
  CHECK(same(whole, parts));
}

TEST_CASE("adamw in a scalar loop has the same bits: no clone of the loop rounds differently") {
  buffers ours{999}, plain{999};
  const at::Tensor g = gradient(999, 0);
  apply_update(hard, 0, steps, 1, ours.slices(g));
  for (std::size_t i = 0; i < 999; ++i) {
    volatile float m = std::fma(static_cast<float>(1 - 0.9), values(g)[i], 0.0f);
    volatile float v = std::fma(static_cast<float>(1 - 0.95) * values(g)[i], values(g)[i], 0.0f);
    volatile float root = std::sqrt(v) / static_cast<float>(std::sqrt(1 - 0.95)) + 1e-8f;
    volatile float decayed = values(plain.p)[i] * static_cast<float>(1 - 3e-3 * 0.1);
    volatile float moved = static_cast<float>(-3e-3 / (1 - 0.9)) * m;
    values(plain.p)[i] = decayed + moved / root;
  }
  CHECK(same_bits(ours.p, plain.p));
}

TEST_CASE("sgd has the bits of torch.optim.SGD") {
  const auto [momentum, decay, nesterov] = GENERATE(table<double, double, bool>(
      {{0.0, 0.0, false}, {0.0, 0.1, false}, {0.9, 0.0, false}, {0.9, 0.1, false}, {0.9, 0.1, true}}));
  const update_options o =
      sgd({.learning_rate = 0.1, .momentum = momentum, .weight_decay = decay, .nesterov = nesterov});
  buffers ours{1024}, torch{1024};
  for (std::uint32_t step = 0; step < steps; ++step) {
    apply_update(o, step, steps, 1, ours.slices(gradient(1024, step)));
    torch_sgd(o, step, torch, gradient(1024, step));
  }
  CHECK(same(ours, torch));
}

TEST_CASE("lion has the bits of lion-pytorch") {
  const update_options o =
      lion({.learning_rate = 1e-2, .weight_decay = GENERATE(0.0, 0.1), .beta1 = 0.95, .beta2 = 0.98});
  buffers ours{1024}, plain{1024};
  for (std::uint32_t step = 0; step < steps; ++step) {
    at::Tensor g = gradient(1024, step);
    g.narrow(0, 0, 8).zero_();
    apply_update(o, step, steps, 1, ours.slices(g));
    plain_lion(o, plain, g);
  }
  CHECK(same(ours, plain));
}

TEST_CASE("lion in a scalar loop has the same bits: no clone of the loop rounds differently") {
  const update_options o = lion({.learning_rate = 1e-2, .weight_decay = 0.1});
  buffers whole{999}, parts{999};
  for (std::uint32_t step = 0; step < steps; ++step) {
    const at::Tensor g = gradient(999, step);
    apply_update(o, step, steps, 0.7f, whole.slices(g));
    const update_slices all = parts.slices(g);
    for (std::size_t i = 0; i < 999; ++i)
      apply_update(o, step, steps, 0.7f,
                   {all.parameters.subspan(i, 1), all.gradients.subspan(i, 1), all.first_moment.subspan(i, 1), {}});
  }
  CHECK(same(whole, parts));
}

TEST_CASE("the constants of a step survive the way through the dispatcher") {
  for (const update_options& o : {hard, sgd({.momentum = 0.9, .nesterov = true}), lion({.weight_decay = 0.1})}) {
    const update_numbers numbers = numbers_of(constants_of(o, 3, 10, 0.5f));
    CHECK(numbers_of(constants_from(numbers.data())) == numbers);
  }
}

TEST_CASE("biases and norms decay unless only matrices do") {
  update_options o = adamw({.weight_decay = 0.1});
  CHECK(options_of(o, "h.0.bias", {vector}).weight_decay == 0.1);
  o.decay = decay_scope::matrices;
  CHECK(options_of(o, "h.0.bias", {vector}).weight_decay == 0);
  CHECK(options_of(o, "h.0.weight", {matrix}).weight_decay == 0.1);
  CHECK(options_of(o, "stem.weight", {filters}).weight_decay == 0.1);
}

TEST_CASE("the last group that has a parameter decides its learning rate and weight decay") {
  update_options o = adamw({.learning_rate = 1, .weight_decay = 0.1});
  o.decay = decay_scope::matrices;
  o.groups = {{.parameters = name_patterns{{"*.bias", "!head.*"}}, .learning_rate = 2, .weight_decay = 0.3},
              {.parameters = name_patterns{{"h.1.*"}}, .learning_rate = 3}};
  const auto rates = [&o](const std::string& name, std::size_t dimensions) {
    const update_options own = options_of(o, name, {dimensions == 1 ? vector : matrix});
    CHECK(own.groups.empty());
    return std::pair{own.learning_rate, own.weight_decay};
  };
  CHECK(rates("h.0.bias", 1) == std::pair{2.0, 0.3});
  CHECK(rates("head.bias", 1) == std::pair{1.0, 0.0});
  CHECK(rates("h.1.bias", 1) == std::pair{3.0, 0.0});  // of no other group
  CHECK(rates("h.1.weight", 2) == std::pair{3.0, 0.1});
  CHECK(rates("h.0.weight", 2) == std::pair{1.0, 0.1});
}

TEST_CASE("the first sgd step does not read the momentum buffer") {
  const update_options o = sgd({.learning_rate = 0.1, .momentum = 0.9});
  buffers clean{33}, dirty{33};
  dirty.m.fill_(NAN);
  apply_update(o, 0, steps, 1, clean.slices(gradient(33, 0)));
  apply_update(o, 0, steps, 1, dirty.slices(gradient(33, 0)));
  CHECK(same(clean, dirty));
}

TEST_CASE("the clip coefficient scales the gradient before everything else") {
  for (const update_options& o :
       {hard, sgd({.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.1}), lion({.weight_decay = 0.1})}) {
    buffers fused{100}, apart{100};
    apply_update(o, 0, steps, 0.3f, fused.slices(gradient(100, 0)));
    apply_update(o, 0, steps, 1, apart.slices(gradient(100, 0).mul(0.3f)));
    CHECK(same(fused, apart));
  }
}

TEST_CASE("the schedule scales the learning rate of the step") {
  update_options warm = hard, constant = hard;
  warm.schedule = {.kind = schedule_kind::constant, .warmup = 4};
  constant.learning_rate = hard.learning_rate * 0.5;
  buffers a{100}, b{100};
  apply_update(warm, 1, steps, 1, a.slices(gradient(100, 0)));
  apply_update(constant, 1, steps, 1, b.slices(gradient(100, 0)));
  CHECK(same(a, b));
}

TEST_CASE("an update with buffers of different lengths is refused") {
  buffers b{10};
  const at::Tensor g = gradient(10, 0);
  update_slices short_moment = b.slices(g);
  short_moment.second_moment = short_moment.second_moment.first(9);
  CHECK_THROWS_AS(apply_update(hard, 0, steps, 1, short_moment), fault_error);
  CHECK_NOTHROW(apply_update(sgd({}), 0, steps, 1, {short_moment.parameters, short_moment.gradients, {}, {}}));
}

TEST_CASE("moments are counted by kind") {
  CHECK(moment_buffers(adamw({})) == 2);
  CHECK(moment_buffers(sgd({.momentum = 0.9})) == 1);
  CHECK(moment_buffers(sgd({})) == 0);
  CHECK(moment_buffers(lion({})) == 1);
  CHECK(moment_buffers(adamw8bit({})) == 2);
  CHECK(moment_buffers(muon({})) == 2);
  CHECK(moment_buffers(adafactor({})) == 2);
}

TEST_CASE("values that no optimizer accepts are refused by name") {
  CHECK_NOTHROW(validate(adamw({})));
  CHECK_NOTHROW(validate(sgd({.momentum = 0.9, .nesterov = true})));
  CHECK_THROWS_WITH(validate(adamw({.learning_rate = -1})), Contains("learning_rate is -1"));
  CHECK_THROWS_WITH(validate(adamw({.learning_rate = NAN})), Contains("learning_rate"));
  CHECK_THROWS_WITH(validate(adamw({.beta2 = 1})), Contains("second of betas is 1"));
  CHECK_THROWS_WITH(validate(adamw({.clip_norm = -1})), Contains("clip_norm"));
  CHECK_THROWS_WITH(validate(adamw({.weight_decay = INFINITY})), Contains("weight_decay"));
  CHECK_THROWS_WITH(validate(sgd({.nesterov = true})), Contains("nesterov"));
  CHECK_THROWS_WITH(validate(lion({.beta1 = 1})), Contains("first of betas is 1"));
  CHECK_NOTHROW(validate(adafactor({})));
  CHECK_THROWS_WITH(validate(adafactor({.decay_rate = 0})), Contains("decay_rate is 0"));
  CHECK_THROWS_WITH(validate(adafactor({.clip_threshold = 0})), Contains("clip_threshold is 0"));
  CHECK_NOTHROW(validate(muon({})));
  CHECK_THROWS_WITH(validate(muon({.momentum = 1})), Contains("momentum is 1"));
  CHECK_THROWS_WITH(validate(muon({.adamw_learning_rate = -1})), Contains("adamw_learning_rate is -1"));
}

TEST_CASE("schedules and groups that make no sense are refused by name") {
  const auto scheduled = [](const learning_schedule& s) { validate(s); };
  const auto grouped = [](parameter_group g) {
    update_options o = adamw({});
    o.groups = {std::move(g)};
    validate(o);
  };
  CHECK_NOTHROW(scheduled({.kind = schedule_kind::wsd, .warmup_ratio = 0.5, .decay_ratio = 0.5}));
  CHECK_THROWS_WITH(scheduled({.kind = schedule_kind::wsd, .warmup_ratio = 0.5, .decay_ratio = 0.75}),
                    Contains("warmup_ratio + decay_ratio is 1.25"));
  CHECK_THROWS_WITH(scheduled({.decay_ratio = 0}), Contains("decay_ratio is 0"));
  CHECK_THROWS_WITH(scheduled({.warmup_ratio = 1}), Contains("warmup_ratio is 1"));
  CHECK_THROWS_WITH(scheduled({.warmup = 3, .warmup_ratio = 0.1}), Contains("0 with warmup steps"));
  CHECK_THROWS_WITH(scheduled({.cycles = 0}), Contains("cycles is 0"));
  CHECK_THROWS_WITH(grouped({}), Contains("a group has no parameters"));
  CHECK_THROWS_WITH(grouped({.parameters = name_patterns{{"*"}}, .learning_rate = -1}),
                    Contains("learning_rate of a group is -1"));
  CHECK_THROWS_WITH(grouped({.parameters = name_patterns{{"*"}}, .weight_decay = NAN}),
                    Contains("weight_decay of a group"));
}

TEST_CASE("the copy has the bits of the new values as at::BFloat16, and does not change them") {
  const update_options rule = GENERATE(as<update_options>{}, hard, sgd({.learning_rate = 0.1, .momentum = 0.9}),
                                       sgd({.learning_rate = 0.1}), lion({.learning_rate = 0.1}));
  constexpr std::int64_t n = 40001;  // more than is rounded at a time
  buffers without{n}, with{n};
  std::vector<std::uint16_t> copy(n);
  for (std::uint32_t step = 0; step < 3; ++step) {
    const at::Tensor g = gradient(n, step);
    apply_update(rule, step, steps, 0.7f, without.slices(g));
    update_slices slices = with.slices(g);
    slices.copy = copy;
    apply_update(rule, step, steps, 0.7f, slices);
  }
  CHECK(same(without, with));
  const at::Tensor rounded = with.p.to(at::kBFloat16);
  CHECK(std::memcmp(copy.data(), rounded.const_data_ptr(), copy.size() * sizeof(std::uint16_t)) == 0);
}

TEST_CASE("a copy of another length is refused before anything is changed") {
  buffers b{8};
  const std::vector<float> before = copy_of(b.p);
  std::vector<std::uint16_t> copy(7);
  const at::Tensor g = gradient(8, 0);
  update_slices slices = b.slices(g);
  slices.copy = copy;
  CHECK_THROWS_AS(apply_update(hard, 0, steps, 1, slices), fault_error);
  CHECK(copy_of(b.p) == before);
}
