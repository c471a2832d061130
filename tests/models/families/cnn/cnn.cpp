#include "models/families/cnn/cnn.hpp"

#include "models/data/data_catalog.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/reference_trainer.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

std::shared_ptr<const data_source> images(std::vector<std::int64_t> shape) {
  return open_data({synthetic_classes{.shape = std::move(shape), .classes = 5}}, 0);
}

}  // namespace

TEST_CASE("a cnn is a stem, stages of blocks that halve the image and double the channels, and a head") {
  const chain c = cnn({.stages = 3, .blocks = 2, .width = 8}).build(*images({3, 10, 8}));
  REQUIRE(c.size() == 8);
  CHECK(c.at(0).prefix == "stem.");
  CHECK(c.at(4).prefix == "stages.1.1.");
  CHECK(c.at(7).prefix == "head.");
  const auto outputs = c.outputs(2);
  CHECK(outputs[0].shape == std::vector<std::int64_t>{2, 8, 10, 8});
  CHECK(outputs[2].shape == std::vector<std::int64_t>{2, 8, 10, 8});
  CHECK(outputs[3].shape == std::vector<std::int64_t>{2, 16, 5, 4});
  CHECK(outputs[6].shape == std::vector<std::int64_t>{2, 32, 3, 2});
  CHECK(outputs[7].shape == std::vector<std::int64_t>{2, 5});
}

TEST_CASE("a cnn has as many parameters as its convolutions, norms and head") {
  const chain c = cnn({.stages = 2, .blocks = 1, .width = 4, .groups = 2}).build(*images({1, 8, 8}));
  const std::int64_t stem = 9 * 4 + 8, same = 2 * (9 * 16 + 8), halving = 9 * 32 + 9 * 64 + 2 * 16 + 32;
  CHECK(c.parameter_count() == stem + same + halving + 8 * 5 + 5);
}

TEST_CASE("dense layers of a cnn are between the mean over the pixels and the classes") {
  const chain c = cnn({.stages = 2, .blocks = 1, .width = 4, .groups = 2, .dense_layers = 2, .dense_width = 6})
                      .build(*images({1, 8, 8}));
  REQUIRE(c.size() == 7);
  CHECK(c.at(3).prefix == "pool.");
  CHECK(c.at(4).prefix == "dense.0.");
  CHECK(c.at(5).prefix == "dense.1.");
  CHECK(c.at(6).prefix == "head.");
  const auto outputs = c.outputs(2);
  CHECK(outputs[3].shape == std::vector<std::int64_t>{2, 8});
  CHECK(outputs[5].shape == std::vector<std::int64_t>{2, 6});
  CHECK(outputs[6].shape == std::vector<std::int64_t>{2, 5});
}

TEST_CASE("equal blocks of a cnn have one signature, blocks that halve another") {
  const chain c = cnn({.stages = 2, .blocks = 3, .width = 8}).build(*images({3, 8, 8}));
  CHECK(c.at(1).body->signature() == c.at(3).body->signature());
  CHECK(c.at(4).body->signature() != c.at(5).body->signature());
  CHECK(c.at(5).body->signature() == c.at(6).body->signature());
}

TEST_CASE("a cnn learns its images, by either loss") {
  const auto data = open_data({synthetic_classes{.shape = {2, 8, 8}, .classes = 4}}, 0);
  for (const auto& objective : {cross_entropy(), mse()}) {
    const auto model = with_loss(cnn({.stages = 2, .blocks = 1, .width = 8}), objective);
    const auto losses = train_reference({.model = model.build(*data),
                                         .data = data,
                                         .batch_size = 32,
                                         .steps = 60,
                                         .update = adamw({.learning_rate = 1e-2})})
                            .losses;
    INFO(objective->name());
    CHECK(losses.back() < 0.5f * losses.front());
  }
}

TEST_CASE("a cnn refuses vectors and impossible options") {
  CHECK_THROWS_WITH(cnn({}).build(*open_data({synthetic_classes{}}, 0)), Contains("takes images"));
  CHECK_THROWS_WITH(cnn({.width = 6}), Contains("cnn: 4 groups do not divide width 6"));
  CHECK_THROWS_WITH(cnn({.stages = 0}), Contains("stages is 0"));
  CHECK_THROWS_WITH(cnn({.stages = 17}), Contains("stages is 17"));
  CHECK_THROWS_WITH(cnn({.blocks = 0}), Contains("blocks is 0"));
  CHECK_THROWS_WITH(cnn({.dense_layers = -1}), Contains("dense_layers is -1"));
  CHECK_THROWS_WITH(cnn({.groups = -1}), Contains("groups is -1"));
}
