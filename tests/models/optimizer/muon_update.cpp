#include "models/optimizer/muon_update.hpp"

#include "models/chain.hpp"
#include "models/layers/linear.hpp"
#include "models/moment_layout.hpp"
#include "models/optimizer/parameter_rule.hpp"
#include "models/optimizer/update_rule.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <ATen/ops/addmm.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/mm.h>
#include <oneapi/tbb/task_arena.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace muon_update_test {

struct state {
  explicit state(std::vector<std::int64_t> s) : shape(std::move(s)), p(random_tensor(shape, 1)), m(zeros(shape)) {}

  update_slices slices(const at::Tensor& g) {
    return {.parameters = values(p),
            .gradients = values(g),
            .first_moment = values(m),
            .second_moment = {},
            .matrix = matrix_size_of({.shape = shape})};
  }
  state copy() const {
    state s{shape};
    s.p = p.clone(), s.m = m.clone();
    return s;
  }

  std::vector<std::int64_t> shape;
  at::Tensor p, m;
};

/// torch/optim/_muon.py of PyTorch 2.9, _zeropower_via_newtonschulz; there `type` is bf16.
at::Tensor zeropower(const at::Tensor& gradient, at::ScalarType type) {
  at::Tensor x = gradient.to(type);
  const bool turned = x.size(0) > x.size(1);
  if (turned) x = x.t();
  x = x.div(x.norm().clamp_min(1e-7));
  for (int i = 0; i < 5; ++i) {
    const at::Tensor gram = x.mm(x.t());
    const at::Tensor update = at::addmm(gram, gram, gram, -4.7750, 2.0315);
    x = at::addmm(x, update, x, 3.4445, 1);
  }
  return turned ? x.t() : x;
}

/// The same file, _single_tensor_muon.
void torch_muon(const update_options& o, state& s, const at::Tensor& g, at::ScalarType type) {
  s.m.lerp_(g, 1 - o.momentum);
  const at::Tensor update = zeropower(o.nesterov ? g.lerp(s.m, o.momentum) : s.m, type);
  const double rows = static_cast<double>(s.shape[0]), columns = static_cast<double>(s.shape[1]);
  const double factor = o.adjustment == rate_adjustment::original ? std::sqrt(std::max(1.0, rows / columns))
                                                                  : 0.2 * std::sqrt(std::max(rows, columns));
  s.p.mul_(1 - o.learning_rate * o.weight_decay);
  s.p.add_(update, -o.learning_rate * factor);
}

at::Tensor gradient(const std::vector<std::int64_t>& shape, std::uint32_t step) {
  return random_tensor(shape, 10 + step).mul(0.1);
}

/// Largest difference between both after a step, as a share of the step's length.
double largest_share(const update_options& o, const std::vector<std::int64_t>& shape, at::ScalarType type) {
  double largest = 0;
  state ours{shape};
  for (std::uint32_t step = 0; step < 4; ++step) {
    state torch = ours.copy();
    const at::Tensor before = ours.p.clone(), g = gradient(shape, step);
    apply_update(o, step, 4, 1, ours.slices(g));
    torch_muon(o, torch, g, type);
    REQUIRE(distance(ours.m, torch.m) < 1e-7);
    largest = std::max(largest, number(ours.p.sub(torch.p).norm()) / number(torch.p.sub(before).norm()));
  }
  return largest;
}

TEST_CASE("muon is the update of torch.optim.Muon with its iterations in fp32, and near them in bf16", "[muon]") {
  const std::vector<std::int64_t> shape = GENERATE(
      as<std::vector<std::int64_t>>{}, std::vector<std::int64_t>{5, 7}, std::vector<std::int64_t>{64, 64},
      std::vector<std::int64_t>{70, 257}, std::vector<std::int64_t>{300, 130}, std::vector<std::int64_t>{9, 1});
  const bool nesterov = GENERATE(true, false);
  const auto adjustment = GENERATE(rate_adjustment::original, rate_adjustment::match_rms_adamw);
  const update_options o = muon({.learning_rate = 0.02, .nesterov = nesterov, .adjustment = adjustment});
  CAPTURE(shape, nesterov);
  CHECK(largest_share(o, shape, at::kDouble) < 1e-4);
  CHECK(largest_share(o, shape, at::kBFloat16) < 0.05);
}

TEST_CASE("muon has the same bits on any number of threads, and writes the copy that is asked for", "[muon]") {
  const std::vector<std::int64_t> shape{150, 260};
  const auto after = [&](int threads, std::vector<std::uint16_t>& copy) {
    state s{shape};
    const at::Tensor g = gradient(shape, 0);
    update_slices slices = s.slices(g);
    slices.copy = copy;
    oneapi::tbb::task_arena(threads).execute([&] { apply_update(muon({}), 0, 4, 0.7f, slices); });
    return s.p;
  };
  std::vector<std::uint16_t> none, copy(150 * 260);
  const at::Tensor one = after(1, none), two = after(2, copy);
  CHECK(same_bits(one, two));
  CHECK(std::memcmp(copy.data(), two.to(at::kBFloat16).const_data_ptr(), copy.size() * sizeof(std::uint16_t)) == 0);
}

TEST_CASE("muon clips by scaling the gradient, and leaves a matrix without a gradient where it is", "[muon]") {
  state clipped{{20, 30}}, scaled{{20, 30}}, still{{20, 30}};
  apply_update(muon({}), 0, 4, 0.5f, clipped.slices(gradient(clipped.shape, 0)));
  apply_update(muon({}), 0, 4, 1, scaled.slices(gradient(scaled.shape, 0).mul(0.5)));
  CHECK(same_bits(clipped.p, scaled.p));
  CHECK(same_bits(clipped.m, scaled.m));
  const at::Tensor before = still.p.clone();
  apply_update(muon({.weight_decay = 0}), 0, 4, 1, still.slices(zeros(still.shape)));
  CHECK(same_bits(before, still.p));
}

TEST_CASE("a part of a matrix is not stepped", "[muon]") {
  state s{{8, 8}};
  const at::Tensor g = gradient(s.shape, 0);
  update_slices slices = s.slices(g);
  slices.matrix.rows = 4;
  CHECK_THROWS_WITH(apply_update(muon({}), 0, 4, 1, slices), Contains("64 parameters (4 x 8)"));
  CHECK_THROWS_AS(apply_update(muon({}), 0, 4, 1, part_of(s.slices(g), 0, 32)), fault_error);
}

TEST_CASE("muon steps the weights of hidden layers, adamw the rest, with a rate of its own", "[muon]") {
  const update_options o = muon({.learning_rate = 0.02, .adamw_learning_rate = 1e-3});
  const std::vector<std::int64_t> vector{16}, weight{16, 16}, filters{8, 4, 3, 3};
  const auto own = [&o](parameter_form form) { return options_of(o, "x", form); };
  CHECK(own({weight}).kind == update_kind::muon);
  CHECK(own({weight}).learning_rate == 0.02);
  CHECK(own({filters}).kind == update_kind::muon);
  CHECK(matrix_size_of({filters}).columns == 36);
  for (const parameter_form& form : {parameter_form{vector}, parameter_form{weight, false}}) {
    CHECK(own(form).kind == update_kind::adamw);
    CHECK(own(form).learning_rate == 1e-3);
  }
  CHECK(options_of(muon({.learning_rate = 0.02}), "x", {vector}).learning_rate == 0.02);
}

TEST_CASE("under muon matrices have one moment, other parameters two", "[muon]") {
  chain model{"test", {{8}, element::f32}, cross_entropy()};
  for (const auto& [name, in, out] : {std::tuple{"first.", 8, 16}, {"hidden.", 16, 32}, {"last.", 32, 4}})
    model.add(name, std::make_shared<linear>(linear_options{.in = in, .out = out}));
  const parameter_layout layout(model, 0, model.size());
  const moment_layout moments(layout, muon({}));
  REQUIRE(moments.buffers() == 2);
  std::size_t ends[2] = {};
  for (std::size_t i = 0; i < layout.parameters().size(); ++i) {
    const placed_parameter& p = layout.parameters()[i];
    INFO(p.name);
    CHECK(p.hidden == p.name.starts_with("hidden."));
    CHECK(moments.places(0)[i].elements == p.elements);
    CHECK(moments.places(1)[i].elements == (p.name == "hidden.weight" ? 0 : p.elements));
    for (const std::size_t b : {0, 1}) {
      const moment_place& place = moments.places(b)[i];
      CHECK(place.offset >= ends[b]);
      ends[b] = place.offset + place.elements * sizeof(float);
    }
  }
  for (const std::size_t b : {0, 1}) {
    CHECK(moments.bytes(b).value() >= ends[b]);
    CHECK(moments.bytes(b).value() < ends[b] + 256);
  }
}

}  // namespace muon_update_test
