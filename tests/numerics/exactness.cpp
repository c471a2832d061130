#include "models/data/sample_bytes.hpp"
#include "models/random.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <string>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

/// 1, 2, 3 and 5 shards of the 5 layers; 8 shards need a deeper chain.

namespace exactness_test {

const std::vector<cut_points> cuts_of_five{{0}, {0, 3}, {0, 2, 4}, {0, 1, 2, 3, 4}};

exact_case matrix_case(const std::vector<std::size_t>& row) {
  auto c = tiny_gpt(row[0] == 0 ? 0.0 : 0.1, row[1] == 1);
  c.micro_batches = row[2] == 0 ? 1 : 4;
  c.optimizer = row[3] == 0 ? adamw({.learning_rate = 1e-2}) : sgd({.learning_rate = 0.05, .momentum = 0.9});
  c.optimizer.clip_norm = row[4] == 0 ? 0 : 0.25;
  c.cuts = cuts_of_five[row[5]];
  return c;
}

TEST_CASE("spilled training equals plain training bit for bit over the exactness matrix", "[exactness]") {
  for (const auto& row : combinations({2, 2, 2, 2, 2, 4})) {
    INFO(fmt::format("dropout {}, tied {}, micro-batches {}, sgd {}, clip {}, cuts {}", row[0], row[1], row[2], row[3],
                     row[4], row[5]));
    const auto c = matrix_case(row);
    REQUIRE(difference(train_plain(c), train_spilled({c}, {}), 0) == "");
  }
}

TEST_CASE("eight shards on two devices with tiny budgets equal plain training bit for bit", "[exactness]") {
  auto c = tiny_gpt(0.1, true);
  c.chain = gpt2(
      {.layers = 6, .width = 16, .heads = 2, .context = 6, .dropout = 0.1, .attention_dropout = 0.1, .tied = true});
  c.cuts = {0, 1, 2, 3, 4, 5, 6, 7};
  c.micro_batches = GENERATE(1u, 4u);
  c.optimizer.clip_norm = 0.5;
  const auto plain = train_plain(c);
  const cpu_device tiny{.memory = 101_KiB};
  REQUIRE(difference(plain, train_spilled({c}, {.devices = {tiny, tiny}}), 0) == "");
}

namespace {

/// 1 to 6 shards of the 6 layers of a CNN.
const std::vector<cut_points> cuts_of_six{{0}, {0, 3}, {0, 5}, {0, 2, 4}, {0, 1, 2, 3, 4, 5}};

/// Real targets: each is half of its input. Every value is a target.
class halves final : public data_source {
 public:
  std::size_t samples(split) const override { return 20; }
  tensor_spec sample_input() const override { return {{3}, element::f32}; }
  tensor_spec sample_target() const override { return sample_input(); }
  std::int64_t classes() const override { return 3; }
  std::string describe() const override { return "halves"; }

  std::size_t read(split, std::size_t index, std::span<std::byte> input, std::span<std::byte> target) const override {
    const auto x = values_in<float>(input, 3), y = values_in<float>(target, 3);
    for (std::size_t i = 0; i < 3; ++i) x[i] = static_cast<float>(random_normal(index, i)), y[i] = x[i] / 2;
    return 3;
  }
};

void check_cuts(exact_case c, const std::vector<cut_points>& all) {
  const auto plain = train_plain(c);
  for (const cut_points& cuts : all) {
    INFO(cuts.size() << " shards, K = " << c.micro_batches);
    c.cuts = cuts;
    REQUIRE(difference(plain, train_spilled({c}, {}), 0) == "");
  }
}

}  // namespace

TEST_CASE("a spilled CNN equals plain training bit for bit wherever it is cut", "[exactness]") {
  auto c = tiny_cnn();
  for (const std::uint32_t micro_batches : {1, 4, 8}) {
    for (const double clip : {0.0, 0.25}) {
      c.micro_batches = micro_batches;
      c.optimizer.clip_norm = clip;
      check_cuts(c, sampled(cuts_of_six, 4));
    }
  }
}

TEST_CASE("a spilled CNN with momentum and squared error equals plain training bit for bit", "[exactness]") {
  auto c = tiny_cnn();
  c.chain = with_loss(c.chain, mse());
  c.micro_batches = 2;
  c.optimizer = sgd({.learning_rate = 0.05, .momentum = 0.9});
  check_cuts(c, sampled(cuts_of_six, 3));
}

TEST_CASE("spilled training on real targets equals plain training bit for bit", "[exactness]") {
  exact_case c;
  c.data = std::make_shared<halves>();
  c.chain = with_loss(mlp({.layers = 2, .width = 8}), mse());
  c.optimizer = sgd({.learning_rate = 0.1});
  c.steps = 4;
  const auto plain = train_plain(c);
  CHECK(plain.losses.back() < plain.losses.front());
  for (const cut_points& cuts : {cut_points{0}, cut_points{0, 1, 2}}) {
    c.cuts = cuts;
    REQUIRE(difference(plain, train_spilled({c}, {}), 0) == "");
  }
}

TEST_CASE("a larger CNN on two devices with little memory equals plain training bit for bit", "[exactness]") {
  auto c = tiny_cnn();
  c.chain = cnn({.stages = 3, .blocks = 2, .width = 16});
  c.data = open_data({synthetic_classes{.shape = {3, 16, 12}, .samples = 60}, true}, 0);
  c.cuts = {0, 1, 2, 3, 4, 5, 6, 7};
  c.micro_batches = 2;
  const auto plain = train_plain(c);
  const cpu_device small{.memory = 3_MiB};
  REQUIRE(difference(plain, train_spilled({c}, {.devices = {small, small}}), 0) == "");
}

}  // namespace exactness_test
