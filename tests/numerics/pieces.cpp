// Layers in pieces: bit for bit plain training of the same pieces, wherever they are cut and computed.

#include "models/families/cnn/cnn.hpp"
#include "models/families/gemma/gemma.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/families/llama/llama.hpp"
#include "models/families/mlp/mlp.hpp"
#include "models/families/phi3/phi3.hpp"
#include "models/joined_weights.hpp"
#include "models/parameter_slice.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/spilled_run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace pieces_test {

/// Embedding, attention and MLP of two blocks, head: 6 * pieces + 6 layers.
exact_case in_pieces(std::uint32_t pieces, double dropout = 0.1, bool tied = true, bool side_by_side = false) {
  auto c = tiny_gpt(dropout, tied);
  c.chain = gpt2({.layers = 2,
                  .width = 16,
                  .heads = 4,
                  .context = 6,
                  .dropout = dropout,
                  .attention_dropout = dropout,
                  .tied = tied});
  if (pieces > 1) c.chain = with_pieces(c.chain, pieces, side_by_side);
  return c;
}

/// The same case, computed side by side; cut where it has to be.
exact_case side_by_side(exact_case c, const chain_description& whole, std::uint32_t pieces) {
  c.chain = with_pieces(whole, pieces, true);
  c.cuts.clear();
  return c;
}

chain_description whole_gpt2(double dropout) { return in_pieces(1, dropout).chain; }

std::vector<cpu_device> devices(std::size_t n) { return std::vector(n, cpu_device{.memory = 8_MiB}); }

/// None, within the embedding, an attention, an MLP and the head, and at each place.
std::vector<cut_points> cuts_of(std::uint32_t pieces) {
  std::vector<cut_points> all{{0}, {0, 1, pieces + 2, 3 * pieces + 1, 4 * pieces + 4, 5 * pieces + 6}, {}};
  for (std::size_t i = 0; i < std::size_t{6} * pieces + 6; ++i) all.back().push_back(i);
  return all;
}

TEST_CASE("pieces on any cut and devices have the bits of plain training in pieces", "[pieces]") {
  for (const auto& row : combinations({2, 3, 3, 2})) {
    const std::uint32_t pieces = row[0] == 0 ? 2 : 4;
    auto c = in_pieces(pieces, row[3] == 0 ? 0.1 : 0.0, row[3] == 0);
    c.micro_batches = 2;
    c.optimizer.clip_norm = row[3] == 0 ? 0.05 : 0;
    c.cuts = cuts_of(pieces)[row[1]];
    INFO(fmt::format("{} pieces, {} shards, {} devices", pieces, c.cuts.size(), row[2] + 1));
    REQUIRE(difference(train_plain(c), train_spilled({c}, {.devices = devices(row[2] + 1)}), 0) == "");
  }
}

TEST_CASE("pieces in replicas and waves, when a device is lost, have the bits of plain training", "[pieces]") {
  auto c = in_pieces(4);
  c.batch_size = 8;
  c.micro_batches = 4;
  c.replicas = c.waves = 2;
  c.cuts = cuts_of(4)[1];
  const auto plain = train_plain(c);
  for (const std::size_t operation : {5, 40, 90})
    CHECK(difference(plain, train_spilled({c}, {.devices = devices(2), .second_dies_at = operation}), 0) == "");
}

TEST_CASE("pieces side by side on any devices have the bits of plain training in pieces", "[pieces]") {
  for (const auto& row : combinations({2, 3, 2})) {
    const std::uint32_t pieces = row[0] == 0 ? 2 : 4;
    const bool tied = row[2] == 0;
    auto c = in_pieces(pieces, tied ? 0.1 : 0.0, tied);
    c.micro_batches = 2;
    c.optimizer.clip_norm = tied ? 0.05 : 0;
    const auto plain = train_plain(c);
    c.chain = in_pieces(pieces, tied ? 0.1 : 0.0, tied, true).chain;
    c.cuts.clear();
    const auto spilled = train_spilled({c}, {.devices = devices(row[1] + 1)});
    INFO(fmt::format("{} pieces, {} devices", pieces, row[1] + 1));
    REQUIRE(difference(plain, spilled, 0) == "");
  }
}

TEST_CASE("pieces side by side in replicas and waves, when a device is lost, have the bits of plain training",
          "[pieces]") {
  auto c = in_pieces(4);
  c.batch_size = 8;
  c.micro_batches = 4;
  c.replicas = c.waves = 2;
  const auto plain = train_plain(c);
  const auto beside = side_by_side(c, whole_gpt2(0.1), 4);
  for (const std::size_t operation : {5, 40, 90, 200})
    CHECK(difference(plain, train_spilled({beside}, {.devices = devices(3), .second_dies_at = operation}), 0) == "");
}

TEST_CASE("pieces side by side beside another model have the bits of plain training", "[pieces]") {
  const auto c = in_pieces(2), other = tiny_gpt(0.1, true);
  const auto plain = train_plain(std::vector{c, other});
  for (const std::string& policy : names_of_policies()) {
    INFO(policy);
    const auto spilled = train_spilled({side_by_side(c, whole_gpt2(0.1), 2), other},
                                       {.devices = devices(2), .policy = policy});
    CHECK(difference(plain, spilled) == "");
  }
}

TEST_CASE("pieces side by side in bf16 have the bits of plain training in bf16", "[pieces]") {
  auto c = in_pieces(4);
  c.numbers = precision::bf16;
  const auto beside = side_by_side(c, whole_gpt2(0.1), 4);
  CHECK(difference(train_plain(c), train_spilled({beside}, {.devices = devices(2)}), 0) == "");
}

TEST_CASE("a run with pieces side by side that is interrupted is resumed to the same bits, also in turn", "[pieces]") {
  const temporary_folder folder;
  const auto c = in_pieces(2);
  const auto beside = side_by_side(c, whole_gpt2(0.1), 2);
  std::size_t parts = 0;
  const auto end = train_in_parts({beside}, {.devices = devices(2), .output = folder.path(), .interrupt_at = 5},
                                  [&](std::size_t, std::vector<exact_case>&, run_options&) { ++parts; });
  CHECK(difference(train_plain(c), end, 0) == "");
  CHECK(parts > 1);
}

TEST_CASE("a run in pieces that is interrupted after a step goes on side by side, and back", "[pieces]") {
  const temporary_folder folder;
  auto c = in_pieces(2);
  c.steps = 6;
  const auto beside = side_by_side(c, whole_gpt2(0.1), 2);
  const auto end = train_in_parts({c},
                                  {.devices = devices(2),
                                   .output = folder.path(),
                                   .checkpoint = {.every_steps = 1, .every_minutes = 0, .keep = 3},
                                   .interrupt_at = 5,
                                   .after_step_of = {0}},
                                  [&](std::size_t n, std::vector<exact_case>& models, run_options&) {
                                    models[0] = n % 2 == 0 ? c : beside;
                                  });
  CHECK(difference(train_plain(c), end, 0) == "");
}

TEST_CASE("the planner takes the fewest pieces that fit", "[pieces]") {
  const auto on = [](const exact_case& c, byte_count memory) {
    return plan_of({c}, {.devices = {cpu_device{.memory = memory}}});
  };
  const auto whole = gpt2({.layers = 1, .width = 64, .heads = 4, .context = 6});
  auto least = in_pieces(1);
  least.chain = with_open_pieces(whole, std::nullopt, false);
  least.cuts.clear();
  for (const std::uint32_t pieces : {1, 2, 4}) {
    auto c = least;
    c.chain = pieces > 1 ? with_pieces(whole, pieces) : whole;
    const auto enough = on(c, 8_MiB).sufficient;
    CHECK(on(least, enough).models[0].pieces == pieces);
    if (pieces == 4) CHECK_THROWS_AS(on(least, enough - 512_B), fault_error);
  }
}

TEST_CASE("pieces that fit only side by side are, where the planner chooses", "[pieces]") {
  const auto on = [](const chain_description& model, byte_count memory) {
    auto c = in_pieces(1);
    c.chain = model;
    c.cuts.clear();
    return plan_of({c}, {.devices = {cpu_device{.memory = memory}}});
  };
  const auto whole = gpt2({.layers = 1, .width = 64, .heads = 4, .context = 6});
  const auto enough = on(with_pieces(whole, 4, true), 8_MiB).sufficient;
  REQUIRE(enough < on(with_pieces(whole, 4), 8_MiB).sufficient);
  CHECK(on(with_open_pieces(whole, 4, std::nullopt), enough).models[0].shape().abreast == 4);
  CHECK_THROWS_WITH(on(with_open_pieces(whole, 4, std::nullopt), enough - 512_B), Contains("does not fit"));
  CHECK_THROWS_WITH(on(with_open_pieces(whole, 4, false), enough), Contains("does not fit"));
}

TEST_CASE("more pieces are not tried if a layer that stays whole needs the most", "[pieces]") {
  auto c = tiny_cnn();
  c.cuts.clear();
  auto whole = cnn({.stages = 1, .blocks = 1, .width = 16, .dense_layers = 1, .dense_width = 64});
  int built = 0;
  whole.build = [&built, build = whole.build](const data_source& data) { return ++built, build(data); };
  c.chain = with_pieces(whole, 32);  // hardly more than its block needs
  const auto enough = plan_of({c}, {.devices = {cpu_device{.memory = 8_MiB}}}).sufficient;
  c.chain = with_open_pieces(whole, std::nullopt, false);
  built = 0;
  CHECK_THROWS_WITH(plan_of({c}, {.devices = {cpu_device{.memory = enough - 512_B}}}), Contains("does not fit"));
  UNSCOPED_INFO(built << " plans");
  CHECK(built > 1);
  CHECK(built < 8);
}

TEST_CASE("a run in pieces that is interrupted again and again is resumed to the same bits", "[pieces]") {
  const temporary_folder folder;
  auto c = in_pieces(2);
  c.cuts = cuts_of(2)[1];
  std::size_t parts = 0;
  const auto end = train_in_parts({c}, {.devices = devices(1), .output = folder.path(), .interrupt_at = 5},
                                  [&](std::size_t, std::vector<exact_case>&, run_options&) { ++parts; });
  CHECK(difference(train_plain(c), end, 0) == "");
  CHECK(parts > 1);
}

TEST_CASE("Llama's pieces, and those of its relatives, have the bits of plain training in pieces", "[pieces]") {
  const auto all = {
      llama({.layers = 2, .width = 16, .heads = 4, .kv_heads = 2, .hidden = 25, .context = 6, .qk_norm = true}),
      llama({.layers = 1, .width = 16, .heads = 2, .kv_heads = 2, .hidden = 24, .context = 6, .qkv_bias = true}),
      gemma({.layers = 1,
             .width = 16,
             .heads = 2,
             .hidden = 24,
             .context = 6,
             .window = 3,
             .score_cap = 2,
             .logit_cap = 3}),
      phi3({.layers = 1, .width = 16, .heads = 4, .kv_heads = 2, .hidden = 24, .context = 6}),
  };
  for (const auto& whole : all) {
    auto c = tiny_gpt(0.0, true);
    const auto plain = [&](chain_description d) {
      c.chain = std::move(d);
      return train_plain(c);
    };
    const auto undivided = plain(whole), divided = plain(with_pieces(whole, 2));
    for (std::size_t i = 0; i < undivided.losses.size(); ++i)
      CHECK(divided.losses[i] == Approx(undivided.losses[i]).epsilon(1e-5));
    c.cuts.clear();
    for (std::size_t i = 0; i < c.chain.build(*c.data).size(); ++i) c.cuts.push_back(i);
    CHECK(difference(divided, train_spilled({c}, {.devices = devices(2)}), 0) == "");
    if (&whole == &*(all.begin() + 2)) continue;  // Gemma norms what its pieces add
    CHECK(difference(divided, train_spilled({side_by_side(c, whole, 2)}, {.devices = devices(2)}), 0) == "");
  }
}

TEST_CASE("dense layers in pieces have the bits of plain training in pieces, in turn and side by side", "[pieces]") {
  for (const auto numbers : {precision::fp32, precision::bf16}) {
    exact_case c;
    c.data = open_data({synthetic_classes{.features = 8, .classes = 3, .samples = 40, .validation_samples = 10}}, 0);
    c.micro_batches = 2;
    c.optimizer = adamw({.learning_rate = 1e-2});
    c.numbers = numbers;
    const auto whole = mlp({.layers = 3, .width = 13, .dropout = 0.1});
    c.chain = with_pieces(whole, 2);
    c.cuts = {0, 1, 3, 4, 8};
    const auto plain = train_plain(c);
    CHECK(difference(plain, train_spilled({c}, {.devices = devices(2)}), 0) == "");
    CHECK(difference(plain, train_spilled({side_by_side(c, whole, 2)}, {.devices = devices(2)}), 0) == "");
  }
}

TEST_CASE("frozen parameters in pieces, and stored in bf16, have the bits of plain training in pieces", "[pieces]") {
  for (const auto format : {base_format::as_computed, base_format::bf16}) {
    auto c = in_pieces(2);
    c.chain = with_base(with_frozen(c.chain, freezing{{"transformer.h.0.*", "!*.ln_1.*"}}), format);
    c.cuts = cuts_of(2)[1];
    const auto plain = train_plain(c);
    CHECK(difference(plain, train_spilled({c}, {.devices = devices(2)}), 0) == "");
    c.chain = with_base(with_frozen(in_pieces(2, 0.1, true, true).chain, freezing{{"transformer.h.0.*", "!*.ln_1.*"}}),
                        format);
    c.cuts.clear();
    CHECK(difference(plain, train_spilled({c}, {.devices = devices(2)}), 0) == "");
  }
}

TEST_CASE("a loss that needs the logits is of a whole head, beside blocks in pieces", "[pieces]") {
  auto c = in_pieces(1);
  c.chain = with_pieces(with_loss(c.chain, mse()), 2);
  c.cuts = {0, 2, 4, 9};
  REQUIRE(c.chain.build(*c.data).size() == 2 + 4 * (1 + 2));
  const auto plain = train_plain(c);
  CHECK(difference(plain, train_spilled({c}, {.devices = devices(2)}), 0) == "");
  c.chain = with_pieces(with_loss(in_pieces(1).chain, mse()), 2, true);
  c.cuts.clear();
  CHECK(difference(plain, train_spilled({c}, {.devices = devices(2)}), 0) == "");
}

TEST_CASE("an evaluation whose last micro-batch is not full counts the same targets in pieces", "[pieces]") {
  auto c = in_pieces(2, 0.0);
  c.batch_size = 5;
  c.cuts = cuts_of(2)[1];
  REQUIRE(c.data->samples(split::validation) % c.batch_size != 0);
  CHECK(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
}

TEST_CASE("pieces in bf16 have the bits of plain training in bf16", "[pieces]") {
  auto c = in_pieces(4);
  c.numbers = precision::bf16;
  c.cuts = cuts_of(4)[1];
  CHECK(difference(train_plain(c), train_spilled({c}, {.devices = devices(2)}), 0) == "");
}

/// Of the whole layers.
std::map<std::string, std::vector<float>> joined(const exact_case& c, const reference_result& r) {
  std::map<std::string, std::vector<float>> all;
  const auto parameters = c.chain.build(*c.data).parameters();
  for (const parameter_spec& p : parameters) all[whole_name(p.name)] = r.parameters.at(p.name);
  for (const auto& [name, slices] : slices_in(parameters)) {
    all[name].resize(static_cast<std::size_t>(parameter_spec{name, slices.front().slice->whole, {}, {}}.elements()));
    join_slices(slices, all[name], [&](const parameter_spec& p, std::span<float> to) {
      std::ranges::copy(r.parameters.at(p.name), to.begin());
      return true;
    });
  }
  return all;
}

TEST_CASE("pieces compute what the whole layers do, but for rounding", "[pieces]") {
  auto c = in_pieces(1, 0.0);
  c.optimizer = {.kind = update_kind::sgd, .learning_rate = 0.5};
  const auto whole = train_plain(c);
  for (const std::uint32_t pieces : {2, 4}) {
    auto divided = c;
    divided.chain = in_pieces(pieces, 0.0).chain;
    const auto r = train_plain(divided);
    for (std::size_t i = 0; i < whole.losses.size(); ++i) CHECK(r.losses[i] == Approx(whole.losses[i]).epsilon(1e-6));
    const auto parameters = joined(divided, r);
    REQUIRE(parameters.size() == whole.parameters.size());
    for (const auto& [name, values] : whole.parameters) {
      INFO(name);
      REQUIRE(parameters.at(name).size() == values.size());
      for (std::size_t i = 0; i < values.size(); ++i) CHECK(std::abs(parameters.at(name)[i] - values[i]) < 1e-6);
    }
  }
}

TEST_CASE("the dropout of pieces is that of the whole layer", "[pieces]") {
  const auto with = [](std::uint32_t pieces) {  // but that of the attention's probabilities, which is each piece's own
    auto d = in_pieces(1);
    d.chain = gpt2({.layers = 2, .width = 16, .heads = 4, .context = 6, .dropout = 0.3});
    if (pieces > 1) d.chain = with_pieces(d.chain, pieces);
    return train_plain(d);
  };
  const auto whole = with(1), divided = with(4);
  for (std::size_t i = 0; i < whole.losses.size(); ++i)
    CHECK(divided.losses[i] == Approx(whole.losses[i]).epsilon(1e-4));
}

}  // namespace pieces_test
