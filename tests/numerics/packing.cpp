#include "models/data/data_catalog.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/families/llama/llama.hpp"
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

exact_case packed_llama() {
  return packed_case(llama({.layers = 2, .width = 16, .heads = 4, .kv_heads = 2, .hidden = 24, .context = 32}));
}

}  // namespace

TEST_CASE("models of packed records equal plain training bit for bit wherever they are cut", "[exactness]") {
  exact_case c = GENERATE(packed_llama(), packed_gpt2(0), packed_gpt2(0.1));
  c.micro_batches = GENERATE(1u, 4u);
  const auto plain = train_plain(c);
  for (const cut_points& cuts : {cut_points{0}, {0, 2}, {0, 1, 2, 3}}) {
    INFO(cuts.size() << " shards, K = " << c.micro_batches);
    c.cuts = cuts;
    REQUIRE(difference(plain, train_spilled({c}, {}), 0) == "");
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
