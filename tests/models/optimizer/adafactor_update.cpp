#include "models/optimizer/adafactor_update.hpp"

#include "models/optimizer/parameter_rule.hpp"
#include "models/optimizer/update_rule.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <oneapi/tbb/task_arena.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace hydra;
using namespace hydra::test;

/// A parameter and its second moments: of a vector there are no columns.

namespace adafactor_update_test {

struct state {
  explicit state(std::vector<std::int64_t> s) : shape(std::move(s)), p(random_tensor(shape, 1)) {
    const auto [first, second] = moment_values(update_kind::adafactor, {.shape = shape});
    rows = zeros({static_cast<std::int64_t>(first)});
    columns = zeros({static_cast<std::int64_t>(second)});
  }

  update_slices slices(const at::Tensor& g) {
    return {.parameters = values(p),
            .gradients = values(g),
            .first_moment = values(rows),
            .second_moment = values(columns),
            .matrix = matrix_size_of({.shape = shape})};
  }

  std::vector<std::int64_t> shape;
  at::Tensor p, rows, columns;
};

/// transformers 4.57, optimization.py, Adafactor.step with scale_parameter = relative_step = False, in double.
struct plain_adafactor {
  explicit plain_adafactor(const state& s)
      : p(s.p.to(at::kDouble)), rows(s.rows.to(at::kDouble)), columns(s.columns.to(at::kDouble)) {}

  void step(const update_options& o, std::uint32_t number, const at::Tensor& gradient) {
    const at::Tensor g = gradient.to(at::kDouble), squares = g.mul(g).add(o.eps);
    const double kept = 1 - std::pow(number + 1.0, -o.decay_rate);
    at::Tensor update;
    if (g.dim() > 1) {
      rows.mul_(kept).add_(squares.mean(1), 1 - kept);
      columns.mul_(kept).add_(squares.mean(0), 1 - kept);
      update = rows.div(rows.mean()).rsqrt().unsqueeze(1).mul(columns.rsqrt().unsqueeze(0)).mul(g);
    } else {
      rows.mul_(kept).add_(squares, 1 - kept);
      update = rows.rsqrt().mul(g);
    }
    const double rms = number_of(update.norm()) / std::sqrt(static_cast<double>(g.numel()));
    update.div_(std::max(1.0, rms / o.clip_threshold)).mul_(o.learning_rate);
    p.add_(p.clone(), -o.weight_decay * o.learning_rate);
    p.add_(update, -1);
  }

  static double number_of(const at::Tensor& scalar) { return scalar.item<double>(); }

  at::Tensor p, rows, columns;
};

/// Rows of different sizes.
at::Tensor gradient(const std::vector<std::int64_t>& shape, std::uint32_t step) {
  const at::Tensor g = random_tensor(shape, 10 + step), first = random_tensor({shape.front()}, 90 + step);
  return (shape.size() > 1 ? g.mul(first.unsqueeze(1)) : g.mul(first)).mul(0.1).contiguous();
}

const update_options rule = adafactor({.learning_rate = 1e-2, .weight_decay = 0.1});

TEST_CASE("adafactor is the update of transformers with a given learning rate", "[adafactor]") {
  const std::vector<std::int64_t> shape =
      GENERATE(as<std::vector<std::int64_t>>{}, std::vector<std::int64_t>{1}, std::vector<std::int64_t>{40'000},
               std::vector<std::int64_t>{5, 7}, std::vector<std::int64_t>{300, 130}, std::vector<std::int64_t>{3, 1});
  const double threshold = GENERATE(1.0, 0.1, 100.0);
  update_options o = rule;
  o.clip_threshold = threshold;
  CAPTURE(shape, threshold);
  state ours{shape};
  plain_adafactor plain{ours};
  for (std::uint32_t step = 0; step < 6; ++step) {
    const at::Tensor g = gradient(shape, step), before = plain.p.clone();
    apply_update(o, step, 6, 1, ours.slices(g));
    plain.step(o, step, g);
    const double way = number(plain.p.sub(before).norm()), off = number(ours.p.to(at::kDouble).sub(plain.p).norm());
    REQUIRE(off < 1e-5 * (way + number(plain.p.norm())));
    REQUIRE(distance(ours.rows.to(at::kDouble), plain.rows) <= 1e-6 * number(plain.rows.max()));
    if (shape.size() > 1)
      REQUIRE(distance(ours.columns.to(at::kDouble), plain.columns) <= 1e-6 * number(plain.columns.max()));
  }
}

TEST_CASE("adafactor has the same bits on any number of threads, and clips by scaling the gradient", "[adafactor]") {
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{300, 130}, std::vector<std::int64_t>{70'000}}) {
    const auto after = [&](int threads, float clip, double scale) {
      state s{shape};
      oneapi::tbb::task_arena(threads).execute([&] {
        for (std::uint32_t step = 0; step < 2; ++step)
          apply_update(rule, step, 2, clip, s.slices(gradient(shape, step).mul(scale)));
      });
      return s.p;
    };
    CHECK(same_bits(after(1, 1, 0.5), after(2, 1, 0.5)));
    CHECK(same_bits(after(1, 0.5f, 1), after(2, 1, 0.5)));
  }
}

TEST_CASE("a matrix has a second moment for each row and column, a vector for each value", "[adafactor]") {
  const std::vector<std::int64_t> vector{16}, matrix{16, 5}, filters{8, 4, 3, 3};
  using sizes = std::array<std::size_t, 2>;
  CHECK(moment_values(update_kind::adafactor, {vector}) == sizes{16, 0});
  CHECK(moment_values(update_kind::adafactor, {matrix}) == sizes{16, 5});
  CHECK(moment_values(update_kind::adafactor, {filters}) == sizes{8, 36});
  state s{matrix};
  const at::Tensor g = gradient(matrix, 0);
  update_slices slices = s.slices(g);
  slices.second_moment = slices.second_moment.first(4);
  CHECK_THROWS_AS(apply_update(rule, 0, 1, 1, slices), fault_error);
}

}  // namespace adafactor_update_test
