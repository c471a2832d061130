#include "models/families/bert/bert_config.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/masked_samples.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace bert_config_test {

using nlohmann::json;

const masked_samples masked{{}}, three_classes{{.classes = 3}}, four_classes{{.classes = 4}};

json small() {
  return {{"architectures", {"BertForMaskedLM"}}, {"hidden_size", 8},         {"num_hidden_layers", 2},
          {"num_attention_heads", 2},             {"intermediate_size", 12},  {"max_position_embeddings", 10},
          {"vocab_size", 20},                     {"torch_dtype", "float16"}, {"made_by", "someone"}};
}

json with(json table, const char* key, json value) {
  table[key] = std::move(value);
  return table;
}

json classifier() {
  return with(with(small(), "architectures", {"BertForSequenceClassification"}), "id2label",
              {{"0", "bad"}, {"1", "fair"}, {"2", "good"}});
}

chain_description read(const json& table, const from_options& options = {}) {
  return bert_from_config(model_config{"config.json", table}, options);
}

std::string signature(const json& table, std::size_t layer, const from_options& options = {}) {
  return read(table, options).build(masked_samples{{.tokens = 10}}).at(layer).body->signature();
}

TEST_CASE("a BERT of a config has its sizes, and transformers' defaults for missing keys") {
  CHECK(read(small()).wants() == sample_request{10, sample_form::masked, {}});
  CHECK(signature(small(), 0) ==
        "bert embedding vocabulary=20 positions=10 types=2 width=8 padding=0 dropout=0.1 eps=1e-12");
  CHECK(signature(small(), 1) ==
        "bert block width=8 heads=2 hidden=12 act=gelu dropout=0.1 attention_dropout=0.1 eps=1e-12");
  CHECK(signature(with(small(), "pad_token_id", nullptr), 0).find("padding=-1") != std::string::npos);
  CHECK(signature(with(small(), "layer_norm_eps", 1e-5), 1).find("eps=1e-05") != std::string::npos);
  CHECK(signature(with(small(), "hidden_act", "gelu_new"), 1).find("act=gelu_new") != std::string::npos);
}

TEST_CASE("context and dropout of a config may be changed, the positions stay") {
  CHECK(read(small(), {.context = 6}).context == 6);
  CHECK(read(small(), {.context = 6}).build(masked).parameters(0)[1].shape.front() == 10);
  CHECK_THROWS_WITH(read(small(), {.context = 11}), Contains("config.json: max_position_embeddings: 10; the context"));
  CHECK(signature(small(), 1, {.dropout = 0}).find("dropout=0 attention_dropout=0") != std::string::npos);
}

TEST_CASE("the architecture determines the head, unless one is named") {
  CHECK(read(with(small(), "architectures", {"BertForPreTraining"})).form == sample_form::masked);
  CHECK(read(classifier()).form == sample_form::labelled);
  CHECK(read(classifier(), {.head = "masked-lm"}).form == sample_form::masked);
  const json bare = with(small(), "architectures", {"BertModel"});
  CHECK_THROWS_WITH(read(bare), Contains("BertModel has no head"));
  CHECK(read(bare, {.head = "classification"}).form == sample_form::labelled);
  CHECK_THROWS_WITH(read(bare, {.head = "tagging"}), Contains("\"tagging\" is not a head of bert"));
}

TEST_CASE("data of other classes than the checkpoint's need a new head") {
  CHECK(read(classifier(), {.context = 6}).build(three_classes).outputs(1).back().shape.back() == 3);
  CHECK_THROWS_WITH(read(classifier(), {.context = 6}).build(four_classes),
                    Contains("id2label: the checkpoint has 3 classes, but") && Contains("has 4") &&
                        Contains("head = \"classification\""));
  const auto fresh = read(classifier(), {.context = 6, .head = "classification"});
  CHECK(fresh.build(four_classes).outputs(1).back().shape.back() == 4);
}

TEST_CASE("what Hydra's BERT does not support is refused by its key") {
  CHECK_THROWS_WITH(read(with(small(), "is_decoder", true)), Contains("config.json: is_decoder"));
  CHECK_THROWS_WITH(read(with(small(), "position_embedding_type", "relative_key")),
                    Contains("position_embedding_type"));
  CHECK_THROWS_WITH(read(with(small(), "tie_word_embeddings", false)), Contains("tie_word_embeddings"));
  CHECK_THROWS_WITH(read(with(small(), "hidden_act", "mish")),
                    Contains("hidden_act: \"mish\"") && Contains("gelu_new"));
  CHECK_THROWS_WITH(read(with(classifier(), "problem_type", "regression")), Contains("problem_type"));
}

TEST_CASE("the config of an export is the original's, in fp32, with the changes") {
  const auto exported = [](const json& table, const from_options& options, const data_source& data) {
    return json::parse(read(table, options).build(data).hub().config);
  };
  const json same = exported(classifier(), {.context = 6}, three_classes);
  CHECK(same["made_by"] == "someone");
  CHECK(same["dtype"] == "float32");
  CHECK_FALSE(same.contains("torch_dtype"));
  CHECK(same["id2label"]["2"] == "good");
  CHECK(same["max_position_embeddings"] == 10);
  const json other = exported(classifier(), {.context = 6, .head = "classification"}, four_classes);
  CHECK(other["id2label"].size() == 4);
  CHECK(other["label2id"]["LABEL_3"] == 3);
  CHECK(exported(classifier(), {.context = 6, .head = "masked-lm"}, masked)["architectures"] ==
        json{"BertForMaskedLM"});
}

TEST_CASE("a BERT's own config describes the same chain again") {
  const chain made = bert({.layers = 1,
                           .width = 8,
                           .heads = 2,
                           .hidden = 20,
                           .context = 6,
                           .types = 3,
                           .act = activation::relu,
                           .dropout = 0.2,
                           .eps = 1e-6})
                         .build(masked);
  const chain again = read(json::parse(made.hub().config)).build(masked);
  REQUIRE(again.size() == made.size());
  for (std::size_t i = 0; i < made.size(); ++i) CHECK(again.at(i).body->signature() == made.at(i).body->signature());
}

}  // namespace bert_config_test
