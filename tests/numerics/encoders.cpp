#include "models/families/bert/bert.hpp"
#include "models/families/vit/vit.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/masked_samples.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

/// 1 to 4 shards of 4 layers.

namespace encoders_test {

const std::vector<cut_points> cuts_of_four{{0}, {0, 2}, {0, 3}, {0, 1, 2, 3}};

/// 2 blocks over padded texts whose numbers of targets differ from micro-batch to micro-batch.
exact_case tiny_bert(bert_head head, double dropout) {
  exact_case c;
  c.chain = bert({.layers = 2, .width = 16, .heads = 2, .context = 6, .vocabulary = 11, .dropout = dropout,
                  .attention_dropout = dropout, .head = head});
  c.data = std::make_shared<masked_samples>(
      masked_samples_options{.classes = head == bert_head::classification ? 3 : 0});
  c.optimizer = adamw({.learning_rate = 1e-2});
  return c;
}

exact_case tiny_vit(double dropout) {
  exact_case c;
  c.chain = vit({.layers = 2, .width = 16, .heads = 2, .patch = 4, .dropout = dropout, .attention_dropout = dropout});
  c.data =
      open_data({synthetic_classes{.shape = {3, 8, 8}, .classes = 5, .samples = 40, .validation_samples = 8}, true}, 0);
  c.optimizer = sgd({.learning_rate = 0.05, .momentum = 0.9});
  return c;
}

void check_cuts_of_four(const std::vector<exact_case>& models) {
  for (const auto& row : combinations({models.size(), 2, 2, cuts_of_four.size()})) {
    auto c = models[row[0]];
    c.micro_batches = row[1] == 0 ? 1 : 4;
    c.optimizer.clip_norm = row[2] == 0 ? 0 : 0.25;
    c.cuts = cuts_of_four[row[3]];
    INFO("model " << row[0] << ", " << c.cuts.size() << " shards, K = " << c.micro_batches << ", clip "
                  << c.optimizer.clip_norm);
    REQUIRE(difference(train_plain(c), train_spilled({c}, {}), 0) == "");
  }
}

TEST_CASE("a spilled BERT equals plain training bit for bit wherever it is cut, with padding and dropout",
          "[exactness]") {
  using enum bert_head;
  check_cuts_of_four({tiny_bert(masked_lm, 0.0), tiny_bert(masked_lm, 0.1), tiny_bert(classification, 0.0),
                      tiny_bert(classification, 0.1)});
}

TEST_CASE("a spilled vision transformer equals plain training bit for bit wherever it is cut", "[exactness]") {
  check_cuts_of_four({tiny_vit(0.0), tiny_vit(0.1)});
}

TEST_CASE("encoders on two devices with little memory equal plain training bit for bit", "[exactness]") {
  const std::vector<exact_case> models{tiny_bert(bert_head::masked_lm, 0.1), tiny_vit(0.1)};
  std::vector<exact_case> cut = models;
  for (exact_case& c : cut) c.cuts = {0, 1, 2, 3}, c.micro_batches = 2;
  const cpu_device little{.memory = 128_KiB};
  const auto spilled = train_spilled(cut, {.devices = {little, little}});
  for (std::size_t i = 0; i < cut.size(); ++i) REQUIRE(difference(train_plain(cut[i]), spilled, i) == "");
}

TEST_CASE("encoders in pieces have the bits of plain training in pieces, in turn and side by side", "[pieces]") {
  using enum bert_head;
  for (const exact_case& whole : {tiny_bert(masked_lm, 0.1), tiny_bert(classification, 0.1), tiny_vit(0.1)}) {
    auto c = whole;
    c.micro_batches = 2;
    c.chain = with_pieces(whole.chain, 2);
    const auto plain = train_plain(c);
    c.cuts.clear();
    for (std::size_t i = 0; i < c.chain.build(*c.data).size(); ++i) c.cuts.push_back(i);
    CHECK(difference(plain, train_spilled({c}, {}), 0) == "");
    c.chain = with_pieces(whole.chain, 2, true);
    c.cuts.clear();
    CHECK(difference(plain, train_spilled({c}, {.devices = std::vector(2, cpu_device{.memory = 8_MiB})}), 0) == "");
  }
}

TEST_CASE("encoders in pieces compute what whole layers do, but for rounding", "[pieces]") {
  using enum bert_head;
  for (exact_case c : {tiny_bert(masked_lm, 0.0), tiny_bert(classification, 0.0), tiny_vit(0.0)}) {
    const auto whole = train_plain(c);
    c.chain = with_pieces(c.chain, 2);
    const auto divided = train_plain(c);
    for (std::size_t i = 0; i < whole.losses.size(); ++i) CHECK(divided.losses[i] == Approx(whole.losses[i]).epsilon(1e-4));
  }
}

}  // namespace encoders_test
