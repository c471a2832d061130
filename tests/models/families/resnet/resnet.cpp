#include "models/families/resnet/resnet.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/resnet/resnet_config.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/reference_trainer.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <set>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

std::shared_ptr<const data_source> images(std::vector<std::int64_t> shape) {
  return open_data({synthetic_classes{.shape = std::move(shape), .classes = 5}}, 0);
}

const resnet_options small{.depths = {1, 2}, .hidden_sizes = {8, 16}, .embedding_size = 4};

std::set<std::string> names(const chain& c) {
  std::set<std::string> all;
  for (std::size_t i = 0; i < c.size(); ++i)
    for (const auto& p : c.parameters(i)) all.insert(p.name);
  return all;
}

model_config config_of(const nlohmann::json& changes = nlohmann::json::object()) {
  nlohmann::json table{{"depths", {1, 2}}, {"hidden_sizes", {8, 16}}, {"embedding_size", 4}, {"num_labels", 5}};
  table.update(changes);
  return {"config.json", table};
}

}  // namespace

TEST_CASE("a resnet is an embedding, a layer for each residual layer, and a head") {
  const chain c = resnet(small).build(*images({3, 32, 24}));
  REQUIRE(c.size() == 5);
  CHECK(c.at(0).prefix == "resnet.embedder.embedder.");
  CHECK(c.at(1).prefix == "resnet.encoder.stages.0.layers.0.");
  CHECK(c.at(3).prefix == "resnet.encoder.stages.1.layers.1.");
  CHECK(c.at(4).prefix == "classifier.1.");
  const auto outputs = c.outputs(2);
  CHECK(outputs[0].shape == std::vector<std::int64_t>{2, 4, 8, 6});
  CHECK(outputs[1].shape == std::vector<std::int64_t>{2, 8, 8, 6});
  CHECK(outputs[3].shape == std::vector<std::int64_t>{2, 16, 4, 3});
  CHECK(outputs[4].shape == std::vector<std::int64_t>{2, 5});
}

TEST_CASE("ResNet-50 has its published number of parameters") {
  const auto data =
      open_data({synthetic_classes{.shape = {3, 224, 224}, .classes = 1000, .samples = 1, .validation_samples = 0}}, 0);
  CHECK(describe_chain("resnet", {}).build(*data).parameter_count() == 25'557'032);
}

TEST_CASE("the parameters of a resnet have the names of transformers, including running averages") {
  const auto all = names(resnet(small).build(*images({3, 32, 32})));
  for (const char* name :
       {"resnet.embedder.embedder.convolution.weight", "resnet.embedder.embedder.normalization.running_var",
        "resnet.encoder.stages.0.layers.0.shortcut.convolution.weight",
        "resnet.encoder.stages.1.layers.1.layer.2.normalization.running_mean", "classifier.1.bias"})
    CHECK(all.contains(name));
}

TEST_CASE("a resnet writes its configuration, and is built from it again") {
  const auto data = images({3, 32, 32});
  for (const char* type : {"basic", "bottleneck"}) {
    auto options = small;
    options.layer_type = type;
    options.downsample_in_first_stage = true;
    const chain c = resnet(options).build(*data);
    const model_config written{"config.json", nlohmann::json::parse(c.hub().config)};
    const chain again = resnet_from_config(written, {}).build(*data);
    CHECK(again.hub().config == c.hub().config);
    CHECK(names(again) == names(c));
    CHECK(again.outputs(3) == c.outputs(3));
  }
}

TEST_CASE("a configuration that Hydra's resnet does not support is refused with its key") {
  CHECK_NOTHROW(resnet_from_config(config_of(), {}).build(*images({3, 32, 32})));
  CHECK_THROWS_WITH(resnet_from_config(config_of({{"hidden_act", "gelu"}}), {}), Contains("config.json: hidden_act"));
  CHECK_THROWS_WITH(resnet_from_config(config_of({{"depths", {1}}}), {}), Contains("config.json: depths"));
  CHECK_THROWS_WITH(resnet_from_config(config_of(), {.context = 5}), Contains("leave context out"));
  CHECK_THROWS_WITH(
      resnet_from_config(config_of({{"num_labels", 4}}), {}).build(*images({3, 32, 32})),
      Contains("config.json: id2label") && Contains("4 classes") && Contains("head = \"classification\""));
  CHECK_THROWS_WITH(resnet_from_config(config_of({{"num_channels", 1}}), {}).build(*images({3, 32, 32})),
                    Contains("1 channels, but the data have 3"));
}

TEST_CASE("a resnet's classes keep their names, and an export is fp32") {
  const nlohmann::json names{{"0", "a"}, {"1", "b"}, {"2", "c"}, {"3", "d"}, {"4", "e"}};
  const auto exported = [&](const from_options& options) {
    const auto config = config_of({{"id2label", names}, {"torch_dtype", "bfloat16"}});
    return nlohmann::json::parse(resnet_from_config(config, options).build(*images({3, 32, 32})).hub().config);
  };
  CHECK(exported({})["id2label"] == names);
  CHECK(exported({.head = "classification"})["id2label"]["4"] == "LABEL_4");
  CHECK(exported({})["dtype"] == "float32");
  CHECK_FALSE(exported({}).contains("torch_dtype"));
  CHECK_THROWS_WITH(resnet_from_config(config_of({{"problem_type", "regression"}}), {}),
                    Contains("config.json: problem_type"));
}

TEST_CASE("a resnet learns its images and evaluates them as well with its running averages") {
  const auto data = open_data({synthetic_classes{.shape = {2, 16, 16}, .classes = 4}, true}, 0);
  const auto result = train_reference({.model = resnet({.depths = {1, 1}, .hidden_sizes = {8, 16}, .embedding_size = 8,
                                                        .layer_type = "basic"}).build(*data),
                                       .data = data,
                                       .batch_size = 32,
                                       .steps = 60,
                                       .update = adamw({.learning_rate = 1e-2}),
                                       .evaluation_micro_batches = 4});
  CHECK(result.losses.back() < 0.5f * result.losses.front());
  CHECK(result.evaluations.back().accuracy.value() > 0.8);
}

TEST_CASE("a resnet refuses impossible options by name") {
  const auto with = [](const char* name, option_value value) { return describe_chain("resnet", {{name, value}}); };
  CHECK_THROWS_WITH(with("depths", "3,4"), Contains("2 depths and 4 hidden_sizes"));
  CHECK_THROWS_WITH(with("depths", "3,4,six,3"), Contains("resnet: depths is \"3,4,six,3\""));
  CHECK_THROWS_WITH(with("depths", "3,4,0,3"), Contains("one of depths is 0"));
  CHECK_THROWS_WITH(with("hidden_sizes", "2,4,8,16"), Contains("4 groups do not divide width 2"));
  CHECK_THROWS_WITH(with("layer_type", "wide"), Contains("layer_type is \"wide\""));
  CHECK_THROWS_WITH(with("embedding_size", std::int64_t{0}), Contains("embedding_size is 0"));
  CHECK_THROWS_WITH(resnet({}).build(*open_data({synthetic_classes{}}, 0)), Contains("takes images"));
}
