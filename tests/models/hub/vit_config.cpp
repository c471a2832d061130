#include "models/hub/vit_config.hpp"

#include "models/data_catalog.hpp"
#include "runtime/fault.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json small() {
  return {{"architectures", {"ViTForImageClassification"}}, {"hidden_size", 8},        {"num_hidden_layers", 2},
          {"num_attention_heads", 2},                       {"intermediate_size", 12}, {"image_size", 8},
          {"patch_size", 4},                                {"num_labels", 5}};
}

json with(json table, const char* key, json value) {
  table[key] = std::move(value);
  return table;
}

chain_description read(const json& table, const from_options& options = {}) {
  return vit_from_config(model_config{"config.json", table}, options);
}

std::shared_ptr<const data_source> images(std::vector<std::int64_t> shape, std::int64_t classes = 5) {
  return open_data({synthetic_classes{.shape = std::move(shape), .classes = classes}}, 0);
}

}  // namespace

TEST_CASE("a vision transformer of a config has its sizes and asks for its images") {
  CHECK(read(small()).image == std::vector<std::int64_t>{3, 8, 8});
  CHECK(read(with(small(), "image_size", {8, 12})).image == std::vector<std::int64_t>{3, 8, 12});
  const chain c = read(with(small(), "qkv_bias", false)).build(*images({3, 8, 8}));
  CHECK(c.at(1).body->signature() ==
        "vit block width=8 heads=2 hidden=12 act=gelu qkv_bias=false dropout=0 attention_dropout=0 eps=1e-12");
  CHECK(read(small(), {.dropout = 0.1}).build(*images({3, 8, 8})).at(1).body->signature().find(
            "dropout=0.1 attention_dropout=0.1") != std::string::npos);
}

TEST_CASE("images of other classes than the checkpoint's need a new head") {
  CHECK_THROWS_WITH(read(small()).build(*images({3, 8, 8}, 4)), Contains("tells 5 classes apart"));
  CHECK(read(small(), {.head = "classification"}).build(*images({3, 8, 8}, 4)).outputs(1).back().shape.back() == 4);
  CHECK_THROWS_WITH(read(small(), {.head = "masked-lm"}), Contains("no head \"masked-lm\""));
}

TEST_CASE("what Hydra's vision transformer cannot do is refused by its key") {
  CHECK_THROWS_WITH(read(with(small(), "hidden_act", "silu")), Contains("config.json: hidden_act"));
  CHECK_THROWS_WITH(read(with(small(), "image_size", {8, 8, 8})), Contains("config.json: image_size"));
  CHECK_THROWS_WITH(read(with(small(), "patch_size", 3)), Contains("do not tile"));
}

TEST_CASE("a vision transformer's own config describes the same chain again") {
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{1, 8, 8}, {2, 8, 12}}) {
    const auto data = images(shape);
    const chain made = vit({.layers = 1, .width = 8, .heads = 2, .hidden = 20, .patch = 4, .act = activation::gelu_tanh,
                            .qkv_bias = false, .dropout = 0.2, .eps = 1e-6}).build(*data);
    const chain again = read(json::parse(made.hub().config)).build(*data);
    REQUIRE(again.size() == made.size());
    for (std::size_t i = 0; i < made.size(); ++i) CHECK(again.at(i).body->signature() == made.at(i).body->signature());
  }
}
