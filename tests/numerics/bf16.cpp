#include "models/families/bert/bert.hpp"
#include "models/families/llama/llama.hpp"
#include "models/families/resnet/resnet.hpp"
#include "models/families/vit/vit.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/masked_samples.hpp"
#include "tests/support/spilled_run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <c10/util/BFloat16.h>
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

/// 1, 2, 3 and 5 shards of the 5 layers.
const std::vector<cut_points> cuts_of_five{{0}, {0, 3}, {0, 2, 4}, {0, 1, 2, 3, 4}};

exact_case rounded(exact_case c) {
  c.numbers = precision::bf16;
  return c;
}

/// Gradients in bf16, too.
exact_case twice_rounded(exact_case c) {
  c.gradients = precision::bf16;
  return rounded(std::move(c));
}

void check_cuts(exact_case c, const std::vector<cut_points>& all) {
  const auto plain = train_plain(c);
  for (const cut_points& cuts : all) {
    INFO(cuts.size() << " shards, K = " << c.micro_batches);
    c.cuts = cuts;
    REQUIRE(difference(plain, train_spilled({c}, {}), 0) == "");
  }
}

/// Of the matrix: dropout, tied, micro-batches, optimizer, clipping, cuts.
void check_row(const std::vector<std::size_t>& row, exact_case (*round)(exact_case)) {
  auto c = round(tiny_gpt(row[0] == 0 ? 0.0 : 0.1, row[1] == 1));
  c.micro_batches = row[2] == 0 ? 1 : 4;
  c.optimizer = row[3] == 0 ? sgd({.learning_rate = 0.05, .momentum = 0.9}) : adamw({.learning_rate = 1e-2});
  c.optimizer.clip_norm = row[4] == 0 ? 0 : 0.25;
  INFO(fmt::format("dropout {}, tied {}, adamw {}, clip {}", row[0], row[1], row[3], row[4]));
  check_cuts(c, {cuts_of_five[row[5]]});
}

exact_case tiny_mlp() {
  exact_case c;
  c.chain = mlp({.layers = 3, .width = 13, .dropout = 0.1});
  c.data = open_data({synthetic_classes{.features = 7, .classes = 5, .samples = 40, .validation_samples = 8}, true}, 0);
  return c;
}

exact_case tiny_llama() {
  auto c = tiny_gpt(0, false);
  c.chain = llama(
      {.layers = 3, .width = 16, .heads = 4, .kv_heads = 2, .hidden = 24, .context = 6, .tied = true, .qk_norm = true});
  return c;
}

exact_case tiny_bert() {
  exact_case c;
  c.chain = bert({.layers = 2, .width = 16, .heads = 2, .context = 6, .vocabulary = 11, .dropout = 0.1,
                  .attention_dropout = 0.1, .head = bert_head::masked_lm});
  c.data = std::make_shared<masked_samples>(masked_samples_options{});
  return c;
}

exact_case tiny_vit() {
  exact_case c;
  c.chain = vit({.layers = 2, .width = 16, .heads = 2, .patch = 4, .dropout = 0.1});
  c.data =
      open_data({synthetic_classes{.shape = {3, 8, 8}, .classes = 5, .samples = 40, .validation_samples = 8}, true}, 0);
  return c;
}

/// All that have no running averages, and of them models of 4 layers at least.
const std::vector<std::string> plain_families{"mlp", "llama", "bert", "vit", "cnn"};

exact_case of_family(const std::string& family) {
  if (family == "mlp") return tiny_mlp();
  if (family == "llama") return tiny_llama();
  if (family == "bert") return tiny_bert();
  return family == "vit" ? tiny_vit() : tiny_cnn();
}

}  // namespace

TEST_CASE("spilled training in bf16 equals plain training in bf16 bit for bit over the exactness matrix",
          "[exactness][bf16]") {
  for (const auto& row : combinations({2, 2, 2, 2, 2, 4})) check_row(row, rounded);
}

TEST_CASE("with gradients in bf16 spilled training equals plain training bit for bit over the exactness matrix",
          "[exactness][bf16]") {
  for (const auto& row : combinations({2, 2, 2, 2, 2, 4})) check_row(row, twice_rounded);
}

TEST_CASE("with gradients in bf16 large parameters have plain training's norms and bits, too", "[exactness][bf16]") {
  exact_case c = twice_rounded(tiny_mlp());
  c.chain = mlp({.layers = 3, .width = 150});  // 22500 weights: two pieces of a norm
  c.micro_batches = 4;
  c.optimizer = adamw({.learning_rate = 1e-2, .clip_norm = 0.25});
  check_cuts(c, {{0}, {0, 1, 2, 3}});
}

TEST_CASE("gradients in bf16 are not those in fp32, but near them, and half as many bytes", "[exactness][bf16]") {
  auto c = rounded(tiny_gpt(0, true));
  c.cuts = {0, 1, 2, 3, 4};
  c.steps = 12;
  c.micro_batches = 4;  // with one a sum is exact in bf16
  c.optimizer.clip_norm = 0.5;
  const auto wide = train_spilled({c}, {}), narrow = train_spilled({twice_rounded(c)}, {});
  const auto &a = wide.summary.models[0], &b = narrow.summary.models[0];
  CHECK(a.digest != b.digest);
  CHECK(a.loss.front() == b.loss.front());
  CHECK(b.loss.back() == Approx(a.loss.back()).epsilon(0.01));
  CHECK(b.grad_norm.front() == Approx(a.grad_norm.front()).epsilon(0.01));
  byte_count gradients;
  session s({.log = verbosity::quiet});
  s.add_devices(1, {.memory = 8_MiB, .numbers = precision::bf16, .gradients = precision::bf16});
  s.add_model(describe(c, 0));
  for (const auto& shard : s.plan().models[0].shards) gradients += shard.gradient_bytes() * c.steps;
  CHECK(narrow.summary.devices[0].d2h_bytes + gradients == wide.summary.devices[0].d2h_bytes);
}

TEST_CASE("every family without running averages trains in bf16 with plain training's bits", "[exactness][bf16]") {
  const std::vector<cut_points> cuts{{0}, {0, 2}, {0, 1, 2, 3}};
  for (const auto& row : combinations({plain_families.size(), 2, 2, cuts.size()})) {
    auto c = (row[1] == 0 ? rounded : twice_rounded)(of_family(plain_families[row[0]]));
    c.micro_batches = row[2] == 0 ? 1 : 4;
    c.optimizer = adamw({.learning_rate = 1e-2, .clip_norm = 0.25});
    INFO(plain_families[row[0]]);
    check_cuts(c, {cuts[row[3]]});
  }
}

TEST_CASE("real targets are compared in fp32 with what is computed in bf16", "[exactness][bf16]") {
  auto c = rounded(tiny_cnn());
  c.chain = with_loss(c.chain, mse());
  c.optimizer = sgd({.learning_rate = 0.05});
  check_cuts(c, {{0}, {0, 3}});
}

TEST_CASE("training in bf16 is not training in fp32, but near it", "[exactness][bf16]") {
  auto c = tiny_gpt(0, true);
  c.steps = 12;
  const auto exact = train_plain(c), coarse = train_plain(rounded(c));
  CHECK(coarse.digest != exact.digest);
  CHECK(coarse.losses.back() == Approx(exact.losses.back()).epsilon(0.03));
  CHECK(coarse.losses.back() < coarse.losses.front());
}

TEST_CASE("the masters keep what bf16 cannot represent", "[exactness][bf16]") {
  auto c = rounded(tiny_gpt(0, true));
  c.optimizer =
      adamw({.learning_rate = 1e-5, .weight_decay = 0});  // less than half of a bf16's last place of most values
  const auto spilled = train_spilled({c}, {});
  REQUIRE(difference(train_plain(c), spilled, 0) == "");
  const auto& scales = spilled.parameters[0].at("h.0.ln_1.weight");  // start as 1
  CHECK(std::ranges::any_of(scales, [](float x) { return x != 1 && static_cast<float>(c10::BFloat16{x}) == 1; }));
}

TEST_CASE("two devices with little memory train in bf16 with plain training's bits", "[exactness][bf16]") {
  auto a = rounded(tiny_gpt(0.1, true)), b = rounded(tiny_vit());
  a.cuts = {0, 1, 2, 3, 4};
  a.micro_batches = 4;
  a.optimizer.clip_norm = 0.5;
  b.cuts = {0, 1, 2, 3};
  b.micro_batches = 2;
  const cpu_device little{.memory = 112_KiB};
  const auto spilled = train_spilled({a, b}, {.devices = {little, little}});
  REQUIRE(difference(train_plain(a), spilled, 0) == "");
  REQUIRE(difference(train_plain(b), spilled, 1) == "");
  for (const auto& d : spilled.summary.devices) CHECK(d.peak <= d.budget);
}

TEST_CASE("in bf16, too, a device that dies midway and a model that joins change no bit", "[exactness][bf16]") {
  const auto in_bf16 = GENERATE(&rounded, &twice_rounded);
  auto a = in_bf16(tiny_gpt(0.1, true)), b = in_bf16(tiny_llama());
  a.cuts = b.cuts = {0, 1, 2, 3, 4};
  a.micro_batches = b.micro_batches = 2;
  const run_options options{.devices = {{.memory = 128_KiB}, {.memory = 128_KiB}}, .second_dies_at = 25};
  const auto spilled = train_spilled({a}, options, [&](session& s) { s.add_model(describe(b, 1)); });
  REQUIRE(difference(train_plain(a), spilled, 0) == "");
  REQUIRE(difference(train_plain(b), spilled, 1) == "");
}

namespace {

/// Interrupted before backward computation `after` of each run, until it is complete. Its boundaries have odd numbers
/// of values.
spilled_result interrupted_again_and_again(exact_case c, std::size_t after, std::size_t& times) {
  const temporary_folder folder;
  run_options options{.output = folder.path(), .interrupt_at = after};
  for (times = 0;; ++times) {
    auto result = train_spilled({c}, options);
    if (!result.summary.interrupted) return result;
    options.resume = true;
    REQUIRE(times < 200);
  }
}

}  // namespace

TEST_CASE("a run in bf16 that is interrupted and resumed has plain training's bits", "[resume][bf16]") {
  auto c = GENERATE(&rounded, &twice_rounded)(tiny_mlp());
  c.cuts = {0, 1, 2, 3};
  c.batch_size = 3;  // 3 x 13 values
  c.steps = 8;
  c.optimizer = GENERATE(adamw({.learning_rate = 1e-2}), adamw({.learning_rate = 1e-2, .clip_norm = 0.25}));
  std::size_t times = 0;
  const auto after = GENERATE(5u, 9u);
  REQUIRE(difference(train_plain(c), interrupted_again_and_again(c, after, times), 0) == "");
  CHECK(times > 1);
}

TEST_CASE("a run can be resumed only in the precision that it started with", "[resume][bf16]") {
  const temporary_folder folder;
  auto c = rounded(tiny_mlp());
  train_spilled({c}, {.output = folder.path()});
  c.numbers = precision::fp32;
  CHECK_THROWS_WITH(train_spilled({c}, {.output = folder.path(), .resume = true}),
                    Contains("the devices' precision: bf16 (saved), fp32 (now)"));
}

TEST_CASE("a tied run with gradients in bf16 that is interrupted inside its steps has plain training's bits",
          "[resume][bf16]") {
  auto c = twice_rounded(tiny_gpt(0.1, true));
  c.cuts = {0, 1, 2, 3, 4};
  c.steps = 12;
  c.micro_batches = 2;
  c.optimizer.clip_norm = 0.25;
  std::size_t times = 0;
  const auto plain = train_plain(c);
  for (const std::size_t after : {30, 37}) {
    REQUIRE(difference(plain, interrupted_again_and_again(c, after, times), 0) == "");
    CHECK(times > 1);
  }
}

TEST_CASE("a run can be resumed only with gradients in the precision that it started with", "[resume][bf16]") {
  for (const bool narrow : {true, false}) {
    const temporary_folder folder;
    auto c = narrow ? twice_rounded(tiny_mlp()) : rounded(tiny_mlp());
    train_spilled({c}, {.output = folder.path()});
    c.gradients = narrow ? precision::fp32 : precision::bf16;
    CHECK_THROWS_WITH(train_spilled({c}, {.output = folder.path(), .resume = true}),
                      Contains(narrow ? "the precision of gradients: bf16 (saved), fp32 (now)"
                                      : "the precision of gradients: fp32 (saved), bf16 (now)"));
  }
}

TEST_CASE("gradients in bf16 are refused where devices compute in fp32, or differ in it", "[bf16]") {
  auto c = tiny_mlp();
  c.gradients = precision::bf16;
  CHECK_THROWS_WITH(train_spilled({c}, {}), Contains("gradients: \"bf16\" is for devices with precision = \"bf16\"") &&
                                                Contains("cpu:0 computes in fp32"));
  session s({.log = verbosity::quiet});
  s.add_devices(1, {.memory = 8_MiB, .numbers = precision::bf16});
  s.add_devices(1, {.memory = 8_MiB, .numbers = precision::bf16, .gradients = precision::bf16});
  s.add_model(describe(tiny_mlp(), 0));
  CHECK_THROWS_WITH(s.plan(), Contains("device: gradients: cpu:0 in fp32, cpu:1 in bf16"));
}

TEST_CASE("devices of different precision are refused by name", "[bf16]") {
  session s({.log = verbosity::quiet});
  s.add_devices(1, {.memory = 8_MiB});
  s.add_devices(1, {.memory = 8_MiB, .numbers = precision::bf16});
  s.add_model(describe(tiny_mlp(), 0));
  CHECK_THROWS_WITH(s.plan(), Contains("cpu:0 in fp32, cpu:1 in bf16"));
}

TEST_CASE("a model with running averages is refused in bf16 by family", "[bf16]") {
  auto c = rounded(tiny_cnn());
  c.chain = resnet({.depths = {1}, .hidden_sizes = {8}, .embedding_size = 4, .layer_type = "basic"});
  CHECK_THROWS_WITH(train_spilled({c}, {}),
                    Contains("\"resnet\" has running averages") && Contains("precision = \"fp32\""));
}

namespace {

byte_count sufficient_for(const exact_case& c) {
  try {
    train_spilled({c}, {.devices = {{.memory = 512_B}}});
  } catch (const fault_error& e) {
    const auto& text = e.what_happened().text;
    return byte_count{std::stoull(text.substr(text.find('(', text.find("smallest sufficient memory")) + 1))};
  }
  return {};
}

/// With little memory, evaluations have shorter visits: less than a plan needs with more memory may be enough.
byte_count least_host_memory(const exact_case& c, const std::vector<cpu_device>& devices) {
  auto needed = planned_host_memory({c}, {.devices = devices});
  for (;;) {
    try {
      needed = planned_host_memory({c}, {.devices = devices, .host_memory = needed - 1_B});
    } catch (const fault_error&) {
      return needed;
    }
  }
}

}  // namespace

TEST_CASE("in bf16 a model trains with exactly its smallest sufficient memory, less than twice that of fp32",
          "[budgets][bf16]") {
  for (const auto& row : combinations({plain_families.size(), 2, 2})) {
    auto c = of_family(plain_families[row[0]]);
    INFO(plain_families[row[0]]);
    c.micro_batches = row[1] == 0 ? 1 : 2;
    c.cuts.clear();
    const auto in_fp32 = sufficient_for(c);
    c = (row[2] == 0 ? rounded : twice_rounded)(c);
    const auto least = sufficient_for(c);
    CHECK(least < in_fp32 + in_fp32);  // blocks of tiny layers are rounded up
    const auto spilled = train_spilled({c}, {.devices = {{.memory = least}, {.memory = least}}});
    REQUIRE(difference(train_plain(c), spilled, 0) == "");
    for (const auto& d : spilled.summary.devices) CHECK(d.peak <= least);
    CHECK_THROWS_AS(train_spilled({c}, {.devices = {{.memory = least - 512_B}}}), fault_error);
  }
}

TEST_CASE("the host memory that a plan in bf16 asks for is enough to the byte", "[budgets][bf16]") {
  auto c = GENERATE(&rounded, &twice_rounded)(tiny_gpt(0.1, true));
  c.cuts = {0, 2, 4};
  c.micro_batches = 2;
  c.evaluate_every = 0;
  c.optimizer.clip_norm = 0.5;
  const std::vector<cpu_device> devices(2, {.memory = 1_MiB});
  const auto needed = least_host_memory(c, devices);
  const auto spilled = train_spilled({c}, {.devices = devices, .host_memory = needed});
  CHECK(spilled.summary.host_peak <= needed);
  REQUIRE(difference(train_plain(c), spilled, 0) == "");
  CHECK_THROWS_AS(train_spilled({c}, {.devices = devices, .host_memory = needed - 1_B}), fault_error);
}
