#include "models/families/bert/bert.hpp"

#include "models/data/data_catalog.hpp"
#include "models/parameter_layout.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/numeric.hpp"
#include "tests/support/masked_samples.hpp"
#include "tests/support/reference_trainer.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

const bert_options small{.layers = 2, .width = 8, .heads = 2, .context = 6};

bert_options classifying() {
  bert_options o = small;
  o.head = bert_head::classification;
  o.vocabulary = 11;
  return o;
}

const masked_samples masked{{}}, labelled{{.classes = 3}};

std::vector<std::string> names_of(const chain& c) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < c.size(); ++i)
    for (const parameter_spec& p : c.parameters(i)) names.push_back(p.name);
  return names;
}

/// In evaluation, with the initial values of a seed.
at::Tensor logits_of(const chain& c, at::Tensor x) {
  const parameter_layout layout{c, 0, c.size()};
  const at::Tensor flat = zeros({static_cast<std::int64_t>(layout.elements())});
  layout.initialise(values(flat), c, 1);
  for (std::size_t i = 0; i < c.size(); ++i)
    x = c.at(i).body->forward(layout.views(flat.mul(10), i), x, {.training = false});
  return x;
}

/// i64[1, 3, tokens]: `text` tokens, then padding.
at::Tensor padded_text(std::int64_t text, std::int64_t tokens) {
  const at::Tensor x = zeros({1, 3, tokens}, at::kLong);
  x.narrow(2, 0, text).select(1, 0).copy_(random_ids({1, text}, 11, 5));
  x.narrow(2, 0, text).select(1, 2).fill_(1);
  return x;
}

}  // namespace

TEST_CASE("bert at Google's sizes has Hugging Face's number of parameters") {
  const bert_options base{.layers = 12, .width = 768, .heads = 12, .context = 512};
  const masked_samples texts{{.tokens = 512, .vocabulary = 30522}};
  CHECK(bert(base).build(texts).parameter_count() == 109514298);  // of BertForMaskedLM
}

TEST_CASE("bert names its parameters as Hugging Face does") {
  const auto names = names_of(bert(small).build(masked));
  REQUIRE(names.size() == 5 + 2 * 16 + 6);
  CHECK(names[0] == "bert.embeddings.word_embeddings.weight");
  CHECK(names[4] == "bert.embeddings.LayerNorm.bias");
  CHECK(names[5] == "bert.encoder.layer.0.attention.self.query.weight");
  CHECK(names[36] == "bert.encoder.layer.1.output.LayerNorm.bias");
  CHECK(names[37] == "cls.predictions.transform.dense.weight");
  CHECK(names[41] == "cls.predictions.decoder.weight");
  CHECK(names[42] == "cls.predictions.bias");
  const auto others = names_of(bert(classifying()).build(labelled));
  REQUIRE(others.size() == 5 + 2 * 16 + 4);
  CHECK(others[37] == "bert.pooler.dense.weight");
  CHECK(others[40] == "classifier.bias");
}

TEST_CASE("bert requires masked texts or labelled ones") {
  CHECK(bert(small).wants() == sample_request{6, sample_form::masked, {}});
  CHECK(bert(classifying()).wants() == sample_request{6, sample_form::labelled, {}});
  CHECK(bert(small).build(masked).outputs(2).back().shape == std::vector<std::int64_t>{2, 6, 11});
  CHECK(bert(classifying()).build(labelled).outputs(2).back().shape == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("padding after a text changes no logit of its tokens and no class") {
  bert_options roomy = small;
  roomy.positions = 12;
  const chain naming = bert(roomy).build(masked);
  const at::Tensor plain = logits_of(naming, padded_text(4, 4));
  CHECK(number(plain.abs().max()) > 0.1);
  for (const std::int64_t tokens : {5, 12})
    CHECK(distance(plain, logits_of(naming, padded_text(4, tokens)).narrow(1, 0, 4)) < 1e-5);
  bert_options same = classifying();
  same.positions = 12;
  const chain classes = bert(same).build(labelled);
  CHECK(distance(logits_of(classes, padded_text(4, 4)), logits_of(classes, padded_text(4, 12))) < 1e-6);
}

TEST_CASE("bert learns masked tokens and classes of texts") {
  const auto last_loss = [](const chain_description& d, std::shared_ptr<const data_source> data) {
    const auto losses = train_reference({.model = d.build(*data),
                                         .data = data,
                                         .batch_size = 8,
                                         .steps = 60,
                                         .update = adamw({.learning_rate = 1e-2})})
                            .losses;
    return losses.back() / losses.front();
  };
  CHECK(last_loss(bert(small), std::make_shared<masked_samples>(masked)) < 0.8);
  CHECK(last_loss(bert(classifying()), std::make_shared<masked_samples>(labelled)) < 0.3);
}

TEST_CASE("bert's vocabulary is the data's, a larger one, or must be given") {
  bert_options o = small;
  o.vocabulary = 16;
  CHECK(bert(o).build(masked).outputs(1).back().shape.back() == 16);
  o.vocabulary = 10;
  CHECK_THROWS_WITH(bert(o).build(masked), Contains("vocabulary is 10") && Contains("up to 10"));
  o = classifying();
  o.vocabulary = 0;
  CHECK_THROWS_WITH(bert(o).build(labelled), Contains("vocabulary is missing"));
}

TEST_CASE("bert refuses data of another form and impossible options") {
  CHECK_THROWS_WITH(bert(small).build(labelled), Contains("a target for each token"));
  CHECK_THROWS_WITH(bert(classifying()).build(masked), Contains("one class"));
  CHECK_THROWS_WITH(bert(small).build(*open_data({synthetic_classes{}}, 0)), Contains("takes texts"));
  const auto refuses = [](const std::function<void(bert_options&)>& change, const char* text) {
    bert_options o = small;
    change(o);
    CHECK_THROWS_WITH(bert(o), Contains(text));
  };
  refuses([](auto& o) { o.layers = 0; }, "layers is 0");
  refuses([](auto& o) { o.heads = 3; }, "3 heads do not divide width 8");
  refuses([](auto& o) { o.positions = 5; }, "context is 6; there are 5 positions");
  refuses([](auto& o) { o.attention_dropout = 1; }, "attention dropout is 1");
  refuses([](auto& o) { o.eps = 0; }, "eps is 0");
}

TEST_CASE("workloads name a bert's head and activation") {
  const std::map<std::string, option_value> options{{"layers", std::int64_t{1}},  {"width", std::int64_t{8}},
                                                    {"heads", std::int64_t{2}},   {"context", std::int64_t{6}},
                                                    {"vocabulary", std::int64_t{11}}};
  const auto with = [&](const char* key, const char* value) {
    auto changed = options;
    changed[key] = std::string{value};
    return describe_chain("bert", changed);
  };
  CHECK(with("head", "classification").form == sample_form::labelled);
  CHECK_THROWS_WITH(with("head", "next-sentence"), Contains("there are \"masked-lm\" and \"classification\""));
  CHECK(with("activation", "relu").build(masked).at(1).body->signature().find("act=relu") != std::string::npos);
  CHECK_THROWS_WITH(with("activation", "gelo"), Contains("did you mean \"gelu\""));
}
