#include "models/data/data_catalog.hpp"
#include "models/families/gemma/gemma.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/families/llama/llama.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/record_files.hpp"
#include "tests/support/spilled_run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

/// Read while models train, so the file stays until the tests end.
const std::shared_ptr<const data_source>& packed_questions() {
  static const temporary_folder folder;
  static const auto data = open_data(
      jsonl({.train = folder.write("r.jsonl", question_lines(300)), .prompt = "q", .answer = "a", .packing = true}),
      32);
  return data;
}

exact_case packed_case(chain_description chain) {
  exact_case c;
  c.chain = std::move(chain);
  c.data = packed_questions();
  c.optimizer = adamw({.learning_rate = 1e-2});
  return c;
}

exact_case packed_gpt2(double dropout) {
  return packed_case(
      gpt2({.layers = 2, .width = 16, .heads = 2, .context = 32, .dropout = dropout, .attention_dropout = dropout}));
}

exact_case packed_gemma() {
  return packed_case(gemma({.layers = 2,
                            .width = 16,
                            .heads = 4,
                            .hidden = 24,
                            .context = 32,
                            .window = 4,
                            .score_cap = 2,
                            .logit_cap = 5}));
}

exact_case packed_llama() {
  return packed_case(llama({.layers = 2, .width = 16, .heads = 4, .kv_heads = 2, .hidden = 24, .context = 32}));
}

}  // namespace

TEST_CASE("models of packed records equal plain training bit for bit wherever they are cut", "[exactness]") {
  const std::vector<exact_case> models{packed_llama(), packed_gemma(), packed_gpt2(0), packed_gpt2(0.1)};
  const std::vector<cut_points> cuts{{0}, {0, 2}, {0, 1, 2, 3}};
  for (const auto& row : combinations({models.size(), 2, cuts.size()})) {
    auto c = models[row[0]];
    c.micro_batches = row[1] == 0 ? 1 : 4;
    c.cuts = cuts[row[2]];
    INFO("model " << row[0] << ", " << c.cuts.size() << " shards, K = " << c.micro_batches);
    REQUIRE(difference(train_plain(c), train_spilled({c}, {}), 0) == "");
  }
}

TEST_CASE("models of packed records in pieces equal plain training in pieces bit for bit", "[pieces]") {
  for (exact_case c : {packed_llama(), packed_gpt2(0.1)}) {
    c.chain = with_pieces(c.chain, 2);
    c.cuts = {0, 1, 3, 4, 7, 9, 11};
    const auto plain = train_plain(c);
    CHECK(difference(plain, train_spilled({c}, {}), 0) == "");
  }
}

TEST_CASE("models of packed records on two devices with little memory equal plain training bit for bit",
          "[exactness]") {
  std::vector<exact_case> models{packed_gpt2(0.1), packed_llama()};
  for (exact_case& c : models) c.cuts = {0, 1, 2, 3}, c.micro_batches = 2;
  const cpu_device little{.memory = 2_MiB};
  const auto spilled = train_spilled(models, {.devices = {little, little}});
  for (std::size_t i = 0; i < models.size(); ++i) REQUIRE(difference(train_plain(models[i]), spilled, i) == "");
}

namespace {

std::vector<exact_case> recipes_for_packed() {
  std::vector<exact_case> all{packed_gpt2(0.1), packed_llama()};
  for (exact_case& c : all) {
    c.cuts = {0, 2, 3};
    c.batch_size = c.micro_batches = 4;
  }
  return all;
}

}  // namespace

TEST_CASE("packed records in bf16, with adapters, chunks of the loss, replicas and waves have plain training's bits",
          "[packing]") {
  for (exact_case c : recipes_for_packed()) {
    exact_case rounded = c, adapted = c, chunked = c, divided = c;
    rounded.numbers = rounded.gradients = precision::bf16;
    adapted.chain = with_base(with_adapter(adapted.chain, {.rank = 2}), base_format::nf4);
    chunked.chain = with_loss_chunk(chunked.chain, 20);
    divided.replicas = divided.waves = 2;
    for (const exact_case& each : {rounded, adapted, chunked, divided})
      CHECK(difference(train_plain(each),
                       train_spilled({each}, {.devices = std::vector(2, cpu_device{.memory = 16_MiB})}), 0) == "");
  }
}

TEST_CASE("models of packed records survive the death of a device", "[packing]") {
  std::vector<exact_case> models = recipes_for_packed();
  const auto plain = train_plain(models);
  for (std::size_t at = 0; at < 120; at += 24) {
    INFO("operation " << at);
    REQUIRE(difference(plain, train_spilled(models, {.devices = std::vector(2, cpu_device{.memory = 16_MiB}),
                                                     .second_dies_at = at})) == "");
  }
}

TEST_CASE("a model of packed records is interrupted and resumed with other cuts", "[packing]") {
  exact_case c = packed_llama();
  c.steps = 6;
  c.batch_size = c.micro_batches = 4;
  c.cuts = {0, 2, 3};
  run_options options{.devices = std::vector(2, cpu_device{.memory = 16_MiB}), .interrupt_at = 13};
  options.checkpoint.every_steps = 1;
  std::size_t parts = 0;
  const auto spilled = train_in_parts({c}, options, [&](std::size_t n, auto& models, run_options&) {
    models.front().cuts = n % 2 == 1 ? cut_points{0, 3} : cut_points{0, 2, 3};
    parts = n;
  });
  CHECK(parts > 0);
  CHECK(difference(train_plain(c), spilled, 0) == "");
}
