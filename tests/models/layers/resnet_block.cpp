#include "models/layers/resnet_block.hpp"

#include "models/layers/resnet_embedding.hpp"
#include "runtime/base/fault.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

void check_output(const layer& l, const std::vector<std::int64_t>& input) {
  const auto parameters = random_parameters(l, 1);
  const at::Tensor y = l.forward(parameters, random_tensor(input, 3), {});
  CHECK(y.sizes().vec() == l.output({input, element::f32}).shape);
  CHECK(y.is_contiguous());
}

}  // namespace

// The seeds are such that no ReLU changes its sign within a difference.
TEST_CASE("ResNet layers conform") {
  for (const bool bottleneck : {false, true})
    for (const std::int64_t stride : {1, 2}) {
      INFO(bottleneck << " " << stride);
      const resnet_block block{{.in = 4, .out = 8, .stride = stride, .bottleneck = bottleneck}};
      conforms(block, random_tensor({2, 4, 5, 4}, 104));
    }
  const resnet_embedding embedding{{.in = 2, .out = 3}};
  conforms(embedding, random_tensor({2, 2, 9, 7}, 104));
}

TEST_CASE("ResNet layers compute their output shapes, for even and odd images") {
  check_output(resnet_embedding{{.in = 3, .out = 4}}, {2, 3, 13, 8});
  for (const bool at_once : {false, true}) {
    const resnet_block block{{.in = 4, .out = 8, .stride = 2, .stride_at_once = at_once}};
    check_output(block, {2, 4, 5, 6});
  }
  check_output(resnet_block{{.in = 4, .out = 4, .bottleneck = false}}, {2, 4, 5, 6});
}

TEST_CASE("the pool of a ResNet sees its channels first, whatever the images' order") {
  const resnet_embedding embedding{{.in = 3, .out = 4}};
  const auto parameters = random_parameters(embedding, 1);
  const at::Tensor images = random_tensor({2, 3, 13, 8}, 3).contiguous(at::MemoryFormat::ChannelsLast);
  CHECK(embedding.forward(parameters, images, {}).is_contiguous());
}

TEST_CASE("a ResNet layer has a shortcut only if shapes differ") {
  CHECK(resnet_block{{.in = 4, .out = 4}}.parameters().size() == 15);
  CHECK(resnet_block{{.in = 4, .out = 4, .stride = 2}}.parameters().size() == 20);
  CHECK(resnet_block{{.in = 8, .out = 4, .bottleneck = false}}.parameters().size() == 15);
}

TEST_CASE("ResNet layers refuse images of other channels and bottlenecks that do not divide by four") {
  const resnet_block block{{.in = 4, .out = 8}};
  CHECK_THROWS_WITH(block.output({{1, 3, 4, 4}, element::f32}), Contains("images of 4 channels"));
  CHECK_THROWS_WITH((resnet_block{{.in = 4, .out = 6}}), Contains("4 groups do not divide width 6"));
  CHECK_THROWS_WITH((resnet_embedding{{.in = 0, .out = 6}}), Contains("in is 0"));
}
