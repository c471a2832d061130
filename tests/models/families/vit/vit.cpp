#include "models/families/vit/vit.hpp"

#include "models/data/data_catalog.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/reference_trainer.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace vit_test {

const vit_options small{.layers = 2, .width = 8, .heads = 2, .patch = 4};

std::shared_ptr<const data_source> images(std::vector<std::int64_t> shape, std::int64_t classes = 5) {
  return open_data({synthetic_classes{.shape = std::move(shape), .classes = classes}}, 0);
}

TEST_CASE("vit at Google's sizes has Hugging Face's number of parameters") {
  const vit_options base{.layers = 12, .width = 768, .heads = 12, .patch = 16};
  CHECK(vit(base).build(*images({3, 224, 224}, 1000)).parameter_count() == 86567656);
}

TEST_CASE("vit names its parameters as Hugging Face's checkpoints do") {
  const chain c = vit(small).build(*images({3, 8, 12}));
  REQUIRE(c.size() == 4);
  CHECK(c.parameters(0)[0].name == "vit.embeddings.cls_token");
  CHECK(c.parameters(0)[1].name == "vit.embeddings.position_embeddings");
  CHECK(c.parameters(0)[2].name == "vit.embeddings.patch_embeddings.projection.weight");
  CHECK(c.parameters(2)[0].name == "vit.encoder.layer.1.layernorm_before.weight");
  CHECK(c.parameters(2)[10].name == "vit.encoder.layer.1.attention.attention.query.weight");
  CHECK(c.parameters(3)[0].name == "vit.layernorm.weight");
  CHECK(c.parameters(3)[3].name == "classifier.bias");
  CHECK(c.outputs(2)[1].shape == std::vector<std::int64_t>{2, 7, 8});
  CHECK(c.outputs(2)[3].shape == std::vector<std::int64_t>{2, 5});
}

TEST_CASE("vit requires images of its size of the data, or accepts them as they are") {
  vit_options sized = small;
  sized.image = {3, 8, 8};
  CHECK(vit(sized).wants() == sample_request{0, sample_form::causal, {3, 8, 8}});
  CHECK(vit(small).wants().image.empty());
  CHECK_THROWS_WITH(vit(sized).build(*images({3, 12, 8})), Contains("images are [3, 12, 8]; it wants [3, 8, 8]"));
}

TEST_CASE("vit learns its images") {
  const auto data = open_data({synthetic_classes{.shape = {2, 8, 8}, .classes = 4}}, 0);
  const auto losses = train_reference({.model = vit(small).build(*data),
                                       .data = data,
                                       .batch_size = 32,
                                       .steps = 60,
                                       .update = adamw({.learning_rate = 1e-2})})
                          .losses;
  CHECK(losses.back() < 0.5f * losses.front());
}

TEST_CASE("vit refuses vectors, patches that do not tile and impossible options") {
  CHECK_THROWS_WITH(vit(small).build(*open_data({synthetic_classes{}}, 0)), Contains("takes images"));
  CHECK_THROWS_WITH(vit(small).build(*images({3, 9, 8})), Contains("do not tile images of 9 x 8"));
  CHECK_THROWS_WITH(vit({.layers = 1, .width = 8, .heads = 3, .patch = 4}), Contains("3 heads do not divide width 8"));
  CHECK_THROWS_WITH(vit({.layers = 1, .width = 8, .heads = 2}), Contains("patch is 0"));
  CHECK_THROWS_WITH(vit({.layers = 1, .width = 8, .heads = 2, .patch = 4, .image = {8, 8}}),
                    Contains("channels, height"));
}

TEST_CASE("workloads request square images by their side") {
  const auto described = describe_chain("vit", {{"layers", std::int64_t{1}},
                                                {"width", std::int64_t{8}},
                                                {"heads", std::int64_t{2}},
                                                {"patch", std::int64_t{4}},
                                                {"image", std::int64_t{8}}});
  CHECK(described.image == std::vector<std::int64_t>{3, 8, 8});
}

}  // namespace vit_test
