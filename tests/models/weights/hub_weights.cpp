#include "models/weights/hub_weights.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/bert/bert.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/weights/safetensors_file.hpp"
#include "tests/support/hub_checkpoint.hpp"
#include "tests/support/masked_samples.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

/// With its own head, "lm_head.weight".
chain untied_gpt2(std::int64_t vocabulary = 0) {
  const auto data = open_data({synthetic_language{.symbols = 8, .order = 1, .tokens = 200, .validation_tokens = 0}}, 6);
  return gpt2({.layers = 1, .width = 4, .heads = 2, .context = 6, .vocabulary = vocabulary, .tied = false})
      .build(*data);
}

chain tied_gpt2() {
  const auto data = open_data({synthetic_language{.symbols = 8, .order = 1, .tokens = 200, .validation_tokens = 0}}, 6);
  return gpt2({.layers = 1, .width = 4, .heads = 2, .context = 6, .tied = true}).build(*data);
}

hub_weights weights_of(const hub_test_tensors& tensors, const chain& model, hub_head head) {
  const temporary_folder folder;
  write_tensors(folder.path() / "model.safetensors", tensors);
  return {std::make_shared<const hub_tensors>(folder.path()), model, head};
}

const parameter_spec lm_head{.name = "lm_head.weight", .shape = {8, 4}, .initial = {}, .tied_to = {}};

}  // namespace

TEST_CASE("a head that is not stored is initialised randomly if a new one is requested, and refused otherwise") {
  const chain model = untied_gpt2();
  CHECK_THROWS_WITH(weights_of(tiny_gpt2_tensors(), model, hub_head::stored),
                    Contains("lacks 1 of 17 tensors: ") &&
                        Contains("lm_head.weight; a head that is the embedding needs \"tie_word_embeddings\": true"));
  std::vector<float> values(32, 5.0f);
  CHECK_FALSE(weights_of(tiny_gpt2_tensors(), model, hub_head::fresh).read(lm_head, values));
  CHECK(values == std::vector<float>(32, 5.0f));
}

TEST_CASE("some rows of a parameter are read without the others, and its pieces have the values of the whole") {
  const temporary_folder folder;
  write_tensors(folder.path() / "model.safetensors", tiny_gpt2_tensors());
  chain model = tied_gpt2();
  const auto weights = std::make_shared<const hub_weights>(std::make_shared<const hub_tensors>(folder.path()), model,
                                                           hub_head::stored);
  model.begin_with(weights);
  const chain whole = model;
  for (const parameter_spec& p : whole.parameters()) {
    if (!p.tied_to.empty()) continue;
    std::vector<float> all(static_cast<std::size_t>(p.elements())), rows;
    REQUIRE(weights->read(p, all));
    const std::size_t width = all.size() / static_cast<std::size_t>(p.shape.front());
    rows.resize(2 * width);
    REQUIRE(weights->read_rows(p, {1, 3}, rows));
    CHECK(std::ranges::equal(rows, std::span{all}.subspan(width, 2 * width)));
  }
  CHECK_FALSE(weights->read_rows(lm_head, {0, 1}, {}));
  model.divide(2).join();
  for (const parameter_spec& p : whole.parameters()) {
    if (!p.tied_to.empty()) continue;
    std::vector<float> joined(static_cast<std::size_t>(p.elements())), all(joined.size());
    REQUIRE(model.weights()->read(p, joined));
    REQUIRE(weights->read(p, all));
    CHECK(joined == all);
  }
}

TEST_CASE("a stored head of tokens is used if it fits, and replaced by a new one for others") {
  const chain model = untied_gpt2();
  hub_test_tensors tensors = tiny_gpt2_tensors();
  std::vector<float> values(32);
  tensors["lm_head.weight"] = ramp({8, 4}, 3);
  CHECK(weights_of(tensors, model, hub_head::fresh).read(lm_head, values));
  CHECK(values[0] == 3.0f);
  tensors["lm_head.weight"] = ramp({9, 4}, 3);
  CHECK_FALSE(weights_of(tensors, model, hub_head::fresh).read(lm_head, values));
  CHECK_THROWS_WITH(weights_of(tensors, model, hub_head::stored), Contains("tensor lm_head.weight: is [9, 4]; "));
}

TEST_CASE("a new classifier has nothing of the stored one, though it has as many classes; what is before it is read") {
  const chain model = bert({.layers = 1, .width = 8, .heads = 2, .context = 6, .vocabulary = 11,
                            .head = bert_head::classification})
                          .build(masked_samples{{.classes = 3}});
  hub_test_tensors tensors;
  for (std::size_t i = 0; i < model.size(); ++i)
    for (const parameter_spec& p : model.parameters(i)) tensors[p.name] = ramp(p.shape, 3);
  const hub_weights stored = weights_of(tensors, model, hub_head::stored),
                    fresh = weights_of(tensors, model, hub_head::fresh);
  const std::vector<parameter_spec> head = model.parameters(model.size() - 1);
  for (const parameter_spec& p : head) {
    std::vector<float> values(static_cast<std::size_t>(p.elements()), 5.0f);
    CHECK(stored.read(p, values));
    CHECK(fresh.read(p, values) != p.name.starts_with("classifier."));
  }
  CHECK(fresh.matched().unused == std::vector<std::string>{"classifier.weight", "classifier.bias"});
  CHECK(stored.matched().unused.empty());
}

TEST_CASE("a pooler and a classifier that are not stored are named by one message") {
  const chain model = bert({.layers = 1, .width = 8, .heads = 2, .context = 6, .vocabulary = 11,
                            .head = bert_head::classification})
                          .build(masked_samples{{.classes = 3}});
  hub_test_tensors tensors;
  for (std::size_t i = 0; i + 1 < model.size(); ++i)
    for (const parameter_spec& p : model.parameters(i)) tensors[p.name] = ramp(p.shape, 3);
  CHECK_THROWS_WITH(weights_of(tensors, model, hub_head::stored),
                    Contains("lacks 4 of ") && Contains("pooler.dense.weight") && Contains("classifier.weight") &&
                        Contains("set head = "));
}

TEST_CASE("the heads of pre-training and of other tasks are ignored, other tensors are not") {
  const chain model = untied_gpt2();
  hub_test_tensors tensors = tiny_gpt2_tensors();
  tensors["lm_head.weight"] = ramp({8, 4}, 3);
  tensors["cls.seq_relationship.weight"] = ramp({2, 4}, 1);
  tensors["pooler.dense.weight"] = ramp({4, 4}, 1);
  CHECK_NOTHROW(weights_of(tensors, model, hub_head::stored));
  tensors["classifier.weight"] = ramp({2, 4}, 1);
  CHECK_NOTHROW(weights_of(tensors, model, hub_head::fresh));
  CHECK_THROWS_WITH(weights_of(tensors, model, hub_head::stored),
                    Contains("has tensors that are not parameters") && Contains("classifier.weight"));
}

TEST_CASE("heads that are not used are named, and those of other classes with them") {
  const chain model = untied_gpt2();
  hub_test_tensors tensors = tiny_gpt2_tensors();
  tensors["lm_head.weight"] = ramp({9, 4}, 3);
  tensors["pooler.dense.weight"] = ramp({4, 4}, 1);
  tensors["transformer.h.0.attn.bias"] = {stored_type::boolean, {1, 1, 6, 6}, std::string(36, '\1')};
  CHECK(weights_of(tensors, model, hub_head::fresh).matched().unused ==
        std::vector<std::string>{"lm_head.weight", "pooler.dense.weight"});
}

TEST_CASE("tied parameters that are stored with different values are named, those with equal ones are not") {
  const chain model = tied_gpt2();
  hub_test_tensors tensors = tiny_gpt2_tensors();
  tensors["lm_head.weight"] = tensors.at("transformer.wte.weight");
  CHECK(weights_of(tensors, model, hub_head::stored).matched().untied.empty());
  tensors["lm_head.weight"] = ramp({8, 4}, 3);
  CHECK(weights_of(tensors, model, hub_head::stored).matched().untied ==
        std::vector<std::string>{"lm_head.weight and transformer.wte.weight"});
}

TEST_CASE("of a checkpoint with other names, the message shows both") {
  hub_test_tensors tensors;
  for (const auto& [name, t] : tiny_gpt2_tensors()) tensors["net." + name] = t;
  CHECK_THROWS_WITH(
      weights_of(tensors, tied_gpt2(), hub_head::stored),
      Contains("lacks 16 of 16 tensors: transformer.") && Contains("in their place it has net.transformer."));
}

TEST_CASE("the rows of new tokens are the mean of those that are stored") {
  hub_test_tensors tensors = tiny_gpt2_tensors();
  tensors["lm_head.weight"] = ramp({8, 4}, 3);
  const chain model = untied_gpt2(10);
  CHECK_THROWS_WITH(weights_of(tensors, model, hub_head::stored), Contains("is [8, 4]"));
  const temporary_folder folder;
  write_tensors(folder.path() / "model.safetensors", tensors);
  const hub_weights weights{std::make_shared<const hub_tensors>(folder.path()), model, hub_head::stored, 8};
  std::vector<float> values(40);
  REQUIRE(weights.read({.name = "lm_head.weight", .shape = {10, 4}, .initial = {}, .tied_to = {}}, values));
  for (std::size_t i = 0; i < 40; ++i) {
    const std::size_t column = i % 4;
    CHECK(values[i] == 3 + static_cast<float>(i < 32 ? i : 14 + column) / 1024);  // of the rows 0, 4, ..., 28 + column
  }
  CHECK(weights.differs_from_base("wte.weight"));
  CHECK_FALSE(weights.differs_from_base("wpe.weight"));
  CHECK_THROWS_WITH((hub_weights{std::make_shared<const hub_tensors>(folder.path()), model, hub_head::stored, 7}),
                    Contains("is [8, 4]"));
}

TEST_CASE(
    "the values of a tensor are compared with those that a parameter begins with, also in the rows of new tokens") {
  hub_test_tensors tensors = tiny_gpt2_tensors(), others;
  tensors["lm_head.weight"] = ramp({8, 4}, 3);
  hub_test_tensor grown = ramp({10, 4}, 3);
  for (std::size_t i = 32; i < 40; ++i) {
    const float mean = 3 + static_cast<float>(14 + i % 4) / 1024;
    std::memcpy(grown.bytes.data() + i * sizeof mean, &mean, sizeof mean);
  }
  others["equal"] = others["other row"] = others["other new row"] = grown;
  others["other row"].bytes[0] ^= 1;
  others["other new row"].bytes[39 * sizeof(float)] ^= 1;
  others["stored"] = ramp({8, 4}, 3);
  others["wpe"] = tensors.at("transformer.wpe.weight");
  const temporary_folder folder;
  write_tensors(folder.path() / "model.safetensors", tensors);
  write_tensors(folder.path() / "others.safetensors", others);
  const hub_weights weights{std::make_shared<const hub_tensors>(folder.path()), untied_gpt2(10), hub_head::stored, 8};
  const safetensors_file file{folder.path() / "others.safetensors"};
  const parameter_spec head{.name = "lm_head.weight", .shape = {10, 4}, .initial = {}, .tied_to = {}};
  CHECK(weights.has_values(head, *file.find("equal")));
  for (const char* const other : {"other row", "other new row", "stored"})
    CHECK_FALSE(weights.has_values(head, *file.find(other)));
  const parameter_spec positions{.name = "wpe.weight", .shape = {6, 4}, .initial = {}, .tied_to = {}};
  CHECK(weights.has_values(positions, *file.find("wpe")));
  CHECK_FALSE(weights.has_values(positions, *file.find("stored")));
}

TEST_CASE("a bias has 0 for new tokens, as BERT's has in transformers") {
  const masked_samples data{{}};
  bert_options options{.layers = 1, .width = 8, .heads = 2, .context = 6};
  const chain stored = bert(options).build(data);
  hub_test_tensors tensors;
  for (std::size_t i = 0; i < stored.size(); ++i)
    for (const parameter_spec& p : stored.parameters(i))
      if (p.tied_to.empty()) tensors[p.name] = ramp(p.shape, 1);
  const temporary_folder folder;
  write_tensors(folder.path() / "model.safetensors", tensors);
  options.vocabulary = 13;
  const auto files = std::make_shared<const hub_tensors>(folder.path());
  const hub_weights weights{files, bert(options).build(data), hub_head::stored, 11};
  std::vector<float> values(13, 7);
  REQUIRE(weights.read({.name = "cls.predictions.bias", .shape = {13}, .initial = {}, .tied_to = {}}, values));
  for (std::size_t i = 0; i < 13; ++i) CHECK(values[i] == (i < 11 ? 1 + static_cast<float>(i) / 1024 : 0));
}

TEST_CASE("only what has a row for each token gets rows with new tokens") {
  const auto data = open_data({synthetic_language{.symbols = 8, .order = 1, .tokens = 200, .validation_tokens = 0}}, 6);
  const chain model = gpt2({.layers = 1, .width = 10, .heads = 2, .context = 6, .vocabulary = 10}).build(*data);
  hub_test_tensors tensors;
  for (std::size_t i = 0; i < model.size(); ++i)
    for (const parameter_spec& p : model.parameters(i))
      if (p.tied_to.empty()) tensors[p.name] = ramp(p.shape, 1);
  tensors["wte.weight"] = ramp({8, 10}, 1);
  const temporary_folder folder;
  write_tensors(folder.path() / "model.safetensors", tensors);
  const auto open = [&] {
    return hub_weights{std::make_shared<const hub_tensors>(folder.path()), model, hub_head::stored, 8};
  };
  CHECK(open().differs_from_base("wte.weight"));
  tensors["ln_f.weight"] = ramp({8}, 1);
  write_tensors(folder.path() / "model.safetensors", tensors);
  CHECK_THROWS_WITH(open(), Contains("tensor ln_f.weight: is [8]"));
}
