#include "models/dropout.hpp"

#include "models/random.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"

#include <ATen/ops/empty_like.h>
#include <c10/core/TensorImpl.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <set>

using namespace hydra;
using namespace hydra::test;

namespace {

const layer_context here{.seed = 1, .step = 2, .micro_batch = 3, .layer = 4};
const std::vector<std::int64_t> shape{50, 40};

at::Tensor ones() { return zeros(shape).fill_(1); }

}  // namespace

TEST_CASE("dropout without probability or outside training changes nothing") {
  const at::Tensor x = random_tensor(shape, 1);
  CHECK(keyed_dropout(x, 0, here, 0).is_same(x));
  layer_context evaluating = here;
  evaluating.training = false;
  CHECK(keyed_dropout(x, 0.5, evaluating, 0).is_same(x));
}

TEST_CASE("dropout zeroes or scales each element") {
  const at::Tensor x = random_tensor(shape, 1), y = keyed_dropout(x, 0.25, here, 0);
  for (std::size_t i = 0; i < values(x).size(); ++i)
    if (values(y)[i] != 0) CHECK(values(y)[i] == values(x)[i] * static_cast<float>(1 / 0.75));
}

TEST_CASE("dropout drops with the given probability") {
  for (const double p : {0.1, 0.5, 0.9}) {
    const double kept = number(keyed_dropout(ones(), p, here, 0).ne(0).to(at::kDouble).mean());
    CHECK(kept == Approx(1 - p).margin(4 * std::sqrt(p * (1 - p) / 2000)));
  }
}

TEST_CASE("the same identity drops the same elements") {
  CHECK(same_bits(keyed_dropout(ones(), 0.5, here, 0), keyed_dropout(ones(), 0.5, here, 0)));
}

TEST_CASE("every part of the identity changes the mask") {
  std::set<std::uint64_t> keys{dropout_key(here, 0), dropout_key(here, 1)};
  for (const layer_context& other :
       {layer_context{9, 2, 3, 4}, layer_context{1, 9, 3, 4}, layer_context{1, 2, 9, 4}, layer_context{1, 2, 3, 9}})
    keys.insert(dropout_key(other, 0));
  CHECK(keys.size() == 6);
  const at::Tensor a = keyed_dropout(ones(), 0.5, here, 0), b = keyed_dropout(ones(), 0.5, here, 1);
  CHECK(number(a.eq(b).to(at::kDouble).mean()) == Approx(0.5).margin(0.05));
}

TEST_CASE("dropout's gradient passes the forward's mask and scale") {
  const at::Tensor x = random_tensor(shape, 1).set_requires_grad(true), upstream = random_tensor(shape, 2);
  keyed_dropout(x, 0.3, here, 0).backward(upstream);
  CHECK(same_bits(x.grad(), keyed_dropout(upstream, 0.3, here, 0)));
  CHECK(number(x.grad().eq(0).to(at::kDouble).mean()) == Approx(0.3).margin(0.05));
}

TEST_CASE("dropout masks by logical index, whatever the strides of input and upstream gradient") {
  const at::Tensor x = random_tensor({40, 50}, 1).t().set_requires_grad(true);
  const at::Tensor y = keyed_dropout(x, 0.5, here, 0);
  CHECK(same_bits(y, keyed_dropout(x.detach().contiguous(), 0.5, here, 0)));
  y.backward(random_tensor({40, 50}, 2).t());
  CHECK(same_bits(x.grad().eq(0), y.eq(0)));
}

TEST_CASE("dropout in other types is refused, not approximated") {
  CHECK_THROWS_AS(keyed_dropout(random_tensor(shape, 1, at::kDouble), 0.5, here, 0), fault_error);
}

TEST_CASE("dropout's bits are those of its definition, element by element") {
  const at::Tensor x = random_tensor(shape, 1), y = keyed_dropout(x, 0.3, here, 7);
  const auto kept = static_cast<float>(1 / (1 - 0.3));
  for (std::size_t i = 0; i < values(x).size(); ++i) {
    const bool dropped = random_uniform(dropout_key(here, 7), i) < 0.3;
    REQUIRE(values(y)[i] == (dropped ? 0.0f : values(x)[i] * kept));
  }
}

TEST_CASE("dropout of bf16 is that of fp32, rounded once") {
  const at::Tensor x = random_tensor(shape, 1).to(at::kBFloat16);
  CHECK(same_bits(keyed_dropout(x, 0.3, here, 0), keyed_dropout(x.to(at::kFloat), 0.3, here, 0).to(at::kBFloat16)));
}

TEST_CASE("the threshold of dropout is the least integer that is not below p") {
  CHECK(dropped_below(0) == 0);
  CHECK(dropped_below(0x1.0p-53) == 1);
  CHECK(dropped_below(0x1.8p-53) == 2);
  CHECK(dropped_below(0.5) == 1ull << 52);
  for (const double p : {0.1, 0.3, 0.7, 1 - 0x1.0p-53})
    CHECK(dropped_below(p) == static_cast<std::uint64_t>(std::ceil(p * 0x1.0p53)));
}

TEST_CASE("dropout gives its output's shape on the meta device") {
  const at::Tensor y = keyed_dropout(at::empty_like(ones(), at::kMeta).t(), 0.5, here, 0);
  CHECK(y.is_meta());
  CHECK(y.sizes() == at::IntArrayRef{40, 50});
  CHECK(y.is_contiguous());
}

TEST_CASE("a device without a kernel for dropout is named") {
  const at::Tensor strange = at::detail::make_tensor<c10::TensorImpl>(
      c10::DispatchKeySet{c10::DispatchKey::Vulkan}, caffe2::TypeMeta::Make<float>(), at::Device{at::kVulkan, 0});
  CHECK_THROWS_WITH(keyed_dropout(strange, 0.5, here, 0),
                    Catch::Contains("keyed dropout has no kernel for device vulkan:0"));
}
