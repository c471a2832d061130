#include "models/families/vit/vit_config.hpp"

#include "models/data/data_catalog.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

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

/// Images of two named classes.
class named_images final : public data_source {
 public:
  std::size_t samples(split) const override { return 0; }
  tensor_spec sample_input() const override { return {{3, 8, 8}, element::f32}; }
  tensor_spec sample_target() const override { return {{}, element::i64}; }
  std::int64_t classes() const override { return 2; }
  std::vector<std::string> class_names() const override { return {"cat", "dog"}; }
  std::string describe() const override { return "cats and dogs"; }
  std::size_t read(split, std::size_t, std::span<std::byte>, std::span<std::byte>) const override { return 0; }
};

}  // namespace

TEST_CASE("a vision transformer of a config has its sizes and requires images of its size") {
  CHECK(read(small()).image == std::vector<std::int64_t>{3, 8, 8});
  CHECK(read(with(small(), "image_size", {8, 12})).image == std::vector<std::int64_t>{3, 8, 12});
  const chain c = read(with(small(), "qkv_bias", false)).build(*images({3, 8, 8}));
  CHECK(c.at(1).body->signature() ==
        "vit block width=8 heads=2 hidden=12 act=gelu qkv_bias=false dropout=0 attention_dropout=0 eps=1e-12");
  CHECK(read(small(), {.dropout = 0.1}).build(*images({3, 8, 8})).at(1).body->signature().find(
            "dropout=0.1 attention_dropout=0.1") != std::string::npos);
}

TEST_CASE("images of other classes than the checkpoint's need a new head") {
  CHECK_THROWS_WITH(read(small()).build(*images({3, 8, 8}, 4)), Contains("the checkpoint has 5 classes"));
  CHECK(read(small(), {.head = "classification"}).build(*images({3, 8, 8}, 4)).outputs(1).back().shape.back() == 4);
  CHECK_THROWS_WITH(read(small(), {.head = "masked-lm"}), Contains("no head \"masked-lm\""));
}

TEST_CASE("labels keep their names with the stored head only") {
  json named = small();
  named["id2label"] = {{"0", "no"}, {"1", "yes"}};
  named["label2id"] = {{"no", 0}, {"yes", 1}};
  named["problem_type"] = "single_label_classification";
  const auto data = images({3, 8, 8}, 2);
  const auto labels = [&](const from_options& options) {
    return json::parse(read(named, options).build(*data).hub().config)["id2label"]["1"];
  };
  CHECK(labels({}) == "yes");
  CHECK(labels({.head = "classification"}) == "LABEL_1");
  const auto of_data = json::parse(read(named, {.head = "classification"}).build(named_images{}).hub().config);
  CHECK(of_data["id2label"] == json{{"0", "cat"}, {"1", "dog"}});
  CHECK(of_data["label2id"] == json{{"cat", 0}, {"dog", 1}});
  const chain own = vit({.layers = 1, .width = 8, .heads = 2, .patch = 4}).build(named_images{});
  CHECK(json::parse(own.hub().config)["id2label"] == json{{"0", "cat"}, {"1", "dog"}});
  named["problem_type"] = "multi_label_classification";
  CHECK_THROWS_WITH(read(named), Contains("config.json: problem_type"));
  const chain fresh = read(named, {.head = "classification"}).build(*data);
  CHECK_FALSE(json::parse(fresh.hub().config).contains("problem_type"));
}

TEST_CASE("a stored head asks the data for its classes in their order, a new one does not") {
  const auto labels = [](const json& table, const from_options& options = {}) {
    return read(table, options).wants().labels;
  };
  json ten = small();
  for (int i = 0; i < 11; ++i) ten["id2label"][std::to_string(i)] = "class " + std::to_string(i);
  CHECK(labels(ten).size() == 11);
  CHECK(labels(ten)[2] == "class 2");  // "10" is before it in the file
  CHECK(labels(with(small(), "id2label", {{"0", 7}, {"1", "yes"}})) == std::vector<std::string>{"7", "yes"});
  CHECK(labels(small()) == std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2", "LABEL_3", "LABEL_4"});
  CHECK(labels(ten, {.head = "classification"}).empty());
  CHECK_THROWS_WITH(labels(with(small(), "id2label", {{"1", "a"}, {"2", "b"}})),
                    Contains("config.json: id2label.0: is missing"));
  CHECK_THROWS_WITH(labels(with(small(), "num_labels", 2'000'000)),
                    Contains("config.json: num_labels: 2000000 classes"));
}

TEST_CASE("an export has the names of what was trained, and a note says where they are not the checkpoint's") {
  const auto built = [](const json& labels, const json& numbers) {
    return read(with(with(small(), "id2label", labels), "label2id", numbers)).build(named_images{});
  };
  const json of_data{{"0", "cat"}, {"1", "dog"}}, numbers{{"cat", 0}, {"dog", 1}};
  CHECK(built(of_data, numbers).notes().empty());
  const chain other = built({{"0", "dog"}, {"1", "cat"}}, {{"dog", 0}, {"cat", 1}});
  CHECK(json::parse(other.hub().config)["id2label"] == of_data);
  CHECK(json::parse(other.hub().config)["label2id"] == numbers);
  CHECK(other.notes() ==
        std::vector<std::string>{"config.json: class 0 is \"dog\" in id2label and \"cat\" in cats and dogs; "
                                 "an export has the names of the data"});
  CHECK(built(of_data, {{"LABEL_0", 0}, {"LABEL_1", 1}}).notes() ==
        std::vector<std::string>{"config.json: label2id and id2label differ; id2label counts"});
}

TEST_CASE("what Hydra's vision transformer does not support is refused by its key") {
  CHECK_THROWS_WITH(read(with(small(), "hidden_act", "mish")), Contains("config.json: hidden_act"));
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
