#include "models/optimizer/gradient_clip.hpp"

#include "tests/models/numeric.hpp"

#include <ATen/ops/clamp_max_ops.h>
#include <ATen/ops/linalg_vector_norm_ops.h>
#include <catch2/catch.hpp>

#include <cmath>

using namespace hydra;
using namespace hydra::test;

namespace {

at::Tensor norm(const at::Tensor& t) { return at::_ops::linalg_vector_norm::call(t, 2, {}, false, {}); }

}  // namespace

TEST_CASE("a gradient's norm has the bits of ATen's norm of the tensor, whatever its shape") {
  for (const auto& shape : {std::vector<std::int64_t>{1}, {7}, {31, 33}, {3, 5, 129}, {300, 512}}) {
    const at::Tensor g = random_tensor(shape, 1);
    CHECK(gradient_norm(values(g)) == norm(g).const_data_ptr<float>()[0]);
  }
}

TEST_CASE("the norm of norms is the norm of all") {
  const at::Tensor a = random_tensor({31}, 1), b = random_tensor({17}, 2);
  const std::vector<float> norms{gradient_norm(values(a)), gradient_norm(values(b))};
  const double squares = number(a.to(at::kDouble).square().sum()) + number(b.to(at::kDouble).square().sum());
  CHECK(total_norm(norms) == Approx(std::sqrt(squares)).epsilon(1e-6));
}

TEST_CASE("the clip coefficient has the bits of torch's") {
  for (int i = 0; i < 2000; ++i) {
    const float n = 0.01f * static_cast<float>(i) + 1e-3f * static_cast<float>(i * i);
    const at::Tensor coefficient = zeros({1}).fill_(n).add(1e-6).reciprocal().mul(0.7);
    REQUIRE(clip_coefficient(0.7f, n) == at::_ops::clamp_max::call(coefficient, 1).const_data_ptr<float>()[0]);
  }
}

TEST_CASE("small gradients are not scaled and a NaN norm stays NaN") {
  CHECK(clip_coefficient(1, 0.5f) == 1);
  CHECK(clip_coefficient(1, 0) == 1);
  CHECK(std::isnan(clip_coefficient(1, NAN)));
}
