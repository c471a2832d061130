// The head and the loss of a language model in chunks of rows: bit for bit plain training in the same chunks.

#include "models/families/gemma/gemma.hpp"
#include "models/families/llama/llama.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace loss_chunks_test {

std::vector<cpu_device> devices(std::size_t n) { return std::vector(n, cpu_device{.memory = 8_MiB}); }

exact_case chunked(exact_case c, std::int64_t rows) {
  c.chain = with_loss_chunk(std::move(c.chain), rows);
  return c;
}

exact_case tiny_llama() {
  auto c = tiny_gpt(0.0, false);
  c.chain = llama({.layers = 3, .width = 16, .heads = 2, .kv_heads = 1, .hidden = 24, .context = 6});
  return c;
}

exact_case tiny_gemma() {
  auto c = tiny_gpt(0.0, true);
  c.chain = gemma({.layers = 3, .width = 16, .heads = 2, .hidden = 24, .context = 6, .logit_cap = 3});
  return c;
}

double largest_difference(const reference_result& a, const reference_result& b) {
  double most = 0;
  for (const auto& [name, values] : a.parameters)
    for (std::size_t i = 0; i < values.size(); ++i)
      most = std::max(most, std::abs(static_cast<double>(values[i]) - b.parameters.at(name)[i]));
  return most;
}

TEST_CASE("one chunk has the bits of no chunks", "[loss-chunk]") {
  auto c = tiny_gpt(0.1, true);
  const auto plain = train_plain(c);
  for (const std::int64_t rows : {24, 1000}) {
    CHECK(difference(plain, train_spilled({chunked(c, rows)}, {.devices = devices(2)}), 0) == "");
    CHECK(train_plain(chunked(c, rows)).digest == plain.digest);
  }
}

TEST_CASE("chunks on any cut have the bits of plain training in the same chunks", "[loss-chunk]") {
  const std::vector<std::int64_t> sizes{1, 5, 8};
  const std::vector<cut_points> cuts{{0}, {0, 2}, {0, 1, 2, 3, 4}};
  for (const auto& row : combinations({2, sizes.size(), cuts.size()})) {
    const std::int64_t rows = sizes[row[1]];
    auto c = chunked(tiny_gpt(0.1, row[0] == 1), rows);
    c.micro_batches = rows == 5 ? 2 : 1;
    c.optimizer.clip_norm = rows == 8 ? 0.05 : 0;
    c.cuts = cuts[row[2]];
    INFO(fmt::format("tied {}, {} rows, {} shards", row[0], rows, c.cuts.size()));
    REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
  }
}

TEST_CASE("chunks of other heads, in replicas, bf16, adapters and stepped on devices have the bits of plain training",
          "[loss-chunk]") {
  for (auto c : {chunked(tiny_llama(), 5), chunked(tiny_gemma(), 5), chunked(tiny_gpt(0.0, false), 5)}) {
    c.cuts = {0, 2, 4};
    c.batch_size = c.micro_batches = 4;
    c.replicas = c.waves = 2;
    CHECK(difference(train_plain(c), train_spilled({c}, {.devices = devices(3)}), 0) == "");
    c.replicas = c.waves = 1;
    const run_options there{.devices = devices(2), .optimizer_on = optimizer_place::device};
    CHECK(difference(train_plain(c), train_spilled({c}, there), 0) == "");
    c.numbers = precision::bf16;
    CHECK(difference(train_plain(c), train_spilled({c}, there), 0) == "");
    c.gradients = precision::bf16;
    CHECK(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
    c.chain = with_adapter(std::move(c.chain), {.rank = 2});
    CHECK(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
  }
}

TEST_CASE("chunks change gradients by rounding alone", "[loss-chunk]") {
  auto c = tiny_gpt(0.1, true);
  c.optimizer = sgd({.learning_rate = 1});
  c.steps = 1;
  const auto whole = train_plain(c);
  for (const std::int64_t rows : {1, 7, 23}) {
    INFO(rows << " rows");
    CHECK(largest_difference(whole, train_plain(chunked(c, rows))) < 1e-6);
    CHECK(train_plain(chunked(c, rows)).losses[0] == Approx(whole.losses[0]).epsilon(1e-6));
  }
}

TEST_CASE("chunks keep within the smallest sufficient memory, to the byte", "[loss-chunk][budgets]") {
  const auto formats = GENERATE(number_formats{}, number_formats{.numbers = precision::bf16},
                                number_formats{.numbers = precision::bf16, .gradients = precision::bf16});
  for (const cut_points& cuts : {cut_points{0, 4}, cut_points{0, 2}}) {
    auto c = chunked(tiny_gpt(0.1, true), 5);
    c.numbers = formats.numbers;
    c.gradients = formats.gradients;
    c.cuts = cuts;
    const auto plan = plan_of({c}, {.devices = {{.memory = 8_MiB}}});
    const auto spilled = train_spilled({c}, {.devices = {{.memory = plan.sufficient}}});
    CHECK(difference(train_plain(c), spilled, 0) == "");
    for (const auto& d : spilled.summary.devices) CHECK(d.peak <= d.budget);
  }
}

}  // namespace loss_chunks_test
