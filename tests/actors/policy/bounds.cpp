#include "actors/policy/bounds.hpp"

#include "actors/policy/catalog.hpp"
#include "tests/actors/policy/random_schedule.hpp"
#include "tests/actors/policy/tiny_simulation.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <random>

using namespace hydra;
using namespace hydra::test;

namespace {

using durations = std::vector<duration>;

/// Every shard alike, in microseconds.
unit_times uniform(std::size_t shards, std::uint32_t steps, int forward, int backward) {
  const auto each = [shards](int us) { return durations(shards, std::chrono::microseconds{us}); };
  return {.forward = each(forward),
          .backward = each(backward),
          .promote = each(0),
          .demote = each(0),
          .update = each(0),
          .steps = steps};
}

/// Times are multiples of 8 ns: exact on devices of speed 1, 1/2 and 1/4.
durations random_times(std::mt19937& rng, std::size_t n, std::uint32_t most) {
  durations times(n);
  for (auto& t : times) {
    t = duration{8 * (rng() % (most + 1))};
  }
  return times;
}

unit_times random_model(std::mt19937& rng) {
  const std::size_t shards = 1 + rng() % 4;
  const std::uint32_t transfers = rng() % 3 == 0 ? 0 : 200;
  unit_times m{.forward = random_times(rng, shards, 100),
               .backward = random_times(rng, shards, 300),
               .promote = random_times(rng, shards, transfers),
               .demote = random_times(rng, shards, transfers),
               .update = random_times(rng, shards, transfers / 2),
               .steps = 1 + static_cast<std::uint32_t>(rng() % 5)};
  m.backward.front() += duration{8};
  return m;
}

/// Some shards of a model side by side, if it has enough.
std::vector<shard_group> random_group(std::mt19937& rng, std::uint32_t shards) {
  if (shards < 3 || rng() % 2 == 0) return {};
  const auto first = static_cast<std::uint32_t>(rng() % (shards - 2));
  return {{.first = first, .count = 2 + static_cast<std::uint32_t>(rng() % (shards - 2 - first))}};
}

/// In lanes, some with evaluations.
unit_times random_lanes(std::mt19937& rng) {
  auto m = random_model(rng);
  m.groups = random_group(rng, static_cast<std::uint32_t>(m.backward.size()));
  m.replicas = 1 + rng() % 3;
  m.waves = 1 + rng() % 4;
  if (m.replicas > 1 && rng() % 3 == 0) {
    m.waves = 1;
    m.meets = static_cast<std::uint32_t>(rng() % (m.groups.empty() ? m.backward.size() : m.groups.front().first + 1));
  }
  m.evaluate = random_times(rng, m.backward.size(), 60);
  m.evaluations = static_cast<std::uint32_t>(rng() % (m.steps + 1));
  m.evaluated_last = m.evaluations > 0;
  m.evaluation_micro_batches = static_cast<std::uint32_t>(rng() % 7);
  return m;
}

std::vector<double> random_speeds(std::mt19937& rng) {
  constexpr std::array possible{1.0, 0.5, 0.25};
  std::vector<double> speeds(1 + rng() % 4);
  for (auto& s : speeds) {
    s = possible[rng() % 3];
  }
  return speeds;
}

const resources one_device{.speeds = {1.0}};

}  // namespace

TEST_CASE("work is the sum of all units over the sum of speeds", "[bounds]") {
  const std::vector models{uniform(3, 4, 10, 30), uniform(1, 2, 999, 50)};  // 4 * (2*10 + 3*30) + 2 * 50 us
  CHECK(lower_bounds(models, resources{.speeds = std::vector{1.0, 0.25}}).work == std::chrono::microseconds{432});
}

TEST_CASE("the chain bound is the longest model on the fastest device", "[bounds]") {
  const std::vector models{uniform(3, 4, 10, 30), uniform(1, 2, 999, 50)};
  CHECK(lower_bounds(models, resources{.speeds = std::vector{1.0, 0.25}}).chain == std::chrono::microseconds{440});
  CHECK(lower_bounds(models, resources{.speeds = std::vector{0.25, 0.5}}).chain == std::chrono::microseconds{880});
}

TEST_CASE("the best bound is the larger one and carries its name", "[bounds]") {
  const std::vector models(4, uniform(2, 10, 10, 30));
  CHECK(lower_bounds(models, one_device).best_name() == "work");
  CHECK(lower_bounds(models, resources{.speeds = std::vector<double>(8, 1.0)}).best_name() == "chain");
}

TEST_CASE("the chain bound counts each step boundary", "[bounds]") {
  auto m = uniform(2, 3, 10, 30);
  m.promote[0] = std::chrono::microseconds{5};
  m.demote[0] = std::chrono::microseconds{7};
  m.update[0] = std::chrono::microseconds{11};
  // load, then three steps of 70 us with two step boundaries of 23 us between them, then the last version
  CHECK(lower_bounds(std::vector{m}, one_device).chain == std::chrono::microseconds{5 + 3 * 70 + 2 * 23 + 18});
}

TEST_CASE("a step boundary that other units of the model hide costs nothing", "[bounds]") {
  auto m = uniform(3, 2, 10, 30);
  m.update[2] = std::chrono::microseconds{60};  // B_1 and B_0 take 60 us before step 1 starts
  CHECK(lower_bounds(std::vector{m}, one_device).chain == std::chrono::microseconds{2 * 110});
}

TEST_CASE("times that were not measured count as nothing", "[bounds]") {
  unit_times m;
  m.backward = {std::chrono::microseconds{30}, std::chrono::microseconds{30}};
  m.steps = 2;
  CHECK(lower_bounds(std::vector{m}, one_device).chain == std::chrono::microseconds{120});
}

TEST_CASE("without work or without devices there is no bound", "[bounds]") {
  CHECK(lower_bounds({}, one_device).best() == duration::zero());
  CHECK(lower_bounds(std::vector{uniform(2, 0, 10, 30)}, one_device).best() == duration::zero());
  CHECK(lower_bounds(std::vector{unit_times{}}, one_device).best() == duration::zero());
  CHECK(lower_bounds(std::vector{uniform(2, 1, 10, 30)}, resources{.speeds = {}}).best() == duration::zero());
}

TEST_CASE("the chain bound of the solo instance of the scheduling study is that of its own simulator", "[bounds]") {
  const auto us = [](std::vector<int> values) {
    durations d;
    for (const auto v : values) {
      d.push_back(std::chrono::microseconds{v});
    }
    return d;
  };
  unit_times m;
  m.forward = us({1028, 1200, 949, 807, 1049, 1172, 855, 0});
  m.backward = us({3084, 3600, 2848, 2422, 3146, 3517, 2564, 940 + 2820});
  m.promote = m.demote = us({993, 1159, 917, 780, 1013, 1133, 826, 908});
  m.steps = 38;
  const auto b = lower_bounds(std::vector{m}, one_device);
  CHECK(b.work == std::chrono::microseconds{1216038});
  CHECK(b.chain == std::chrono::microseconds{1291506});
}

TEST_CASE("no policy's makespan is below a bound", "[bounds]") {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    std::mt19937 rng{seed};
    std::vector<unit_times> models(1 + rng() % 5);
    std::ranges::generate(models, [&] { return random_model(rng); });
    const auto speeds = random_speeds(rng);
    const auto b = lower_bounds(models, resources{.speeds = speeds});
    for (const auto& entry : built_in_policies()) {
      INFO("seed " << seed << ", policy " << entry.name);
      tiny_simulation simulation{models, speeds, make_policy(entry.name, seed)};
      const auto makespan = simulation.run();
      REQUIRE(simulation.completed() == simulation.units());
      CHECK(makespan >= b.best());
    }
  }
}

TEST_CASE("one model alone attains the chain bound", "[bounds]") {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 rng{seed};
    const std::vector models{random_model(rng)};
    INFO("seed " << seed);
    tiny_simulation simulation{models, one_device.speeds, make_policy("sharded-lrtf", 0)};
    CHECK(simulation.run() == lower_bounds(models, one_device).chain);
  }
}

TEST_CASE("evaluations are work and part of the chain, between steps and after the last", "[bounds]") {
  auto m = uniform(2, 3, 10, 30);  // a step takes 70 us
  m.promote[0] = m.demote[0] = std::chrono::microseconds{5};
  m.evaluate = durations(2, std::chrono::microseconds{1});
  m.evaluation_micro_batches = 4;
  m.evaluations = 2;
  CHECK(lower_bounds(std::vector{m}, one_device).work == std::chrono::microseconds{3 * 70 + 2 * 8});
  // an evaluation comes after the step boundary, so it adds its own time; after the last step it needs the last version
  // up, too
  CHECK(lower_bounds(std::vector{m}, one_device).chain == std::chrono::microseconds{5 + 3 * 70 + 2 * 10 + 2 * 8 + 5});
  m.evaluated_last = true;
  CHECK(lower_bounds(std::vector{m}, one_device).chain == std::chrono::microseconds{5 + 3 * 70 + 3 * 10 + 2 * 8});
}

TEST_CASE("an evaluation with which a resumed run starts delays none of its steps", "[bounds]") {
  // steps 2 to 4; evaluated after 2, 4 and 5 steps; a schedule of 54 us exists
  auto m = uniform(2, 3, 10, 1);
  m.update = {duration{}, std::chrono::microseconds{8}};
  m.evaluate = durations(2, std::chrono::microseconds{1});
  m.evaluation_micro_batches = 1;
  m.evaluations = 3;
  m.evaluated_last = true;
  CHECK(lower_bounds(std::vector{m}, one_device).chain == std::chrono::microseconds{60});
  m.evaluated_first = true;
  CHECK(lower_bounds(std::vector{m}, one_device).chain <= std::chrono::microseconds{54});
}

TEST_CASE("the uniform bound sees that a few long models keep a few devices busy", "[bounds]") {
  // 40 and 40 us of work on speeds 1, 1, 1/4: both on the fast ones; 10 us more fit next to them
  const std::vector models{uniform(1, 1, 0, 40), uniform(1, 1, 0, 40), uniform(1, 1, 0, 2)};
  const auto b = lower_bounds(models, resources{.speeds = {0.25, 1.0, 1.0}});
  CHECK(b.work == duration{82000 * 4 / 9});
  CHECK(b.uniform == std::chrono::microseconds{40});
  CHECK(b.chain == b.uniform);
  const auto two = lower_bounds(std::span(models).first(2), resources{.speeds = {0.5, 1.0}});
  CHECK(two.uniform == two.work);
  CHECK(two.uniform > two.chain);
}

TEST_CASE("transfers and updates are shared by links and workers", "[bounds]") {
  auto m = uniform(2, 3, 10, 30);
  m.promote = durations(2, std::chrono::microseconds{100});
  m.demote = durations(2, std::chrono::microseconds{50});
  m.update = durations(2, std::chrono::microseconds{80});
  const auto b = lower_bounds(std::vector{m, m}, resources{.speeds = {1.0, 1.0}, .optimizer_workers = 4});
  CHECK(b.h2d == std::chrono::microseconds{600});
  CHECK(b.d2h == std::chrono::microseconds{300});
  CHECK(b.optimizer == std::chrono::microseconds{240});
  m.evaluated_last = true;
  CHECK(lower_bounds(std::vector{m}, one_device).h2d == std::chrono::microseconds{800});
}

TEST_CASE("a base is copied as often as the walks of one model need, whoever shares it", "[bounds]") {
  const auto us = [](int n) { return std::chrono::microseconds{n}; };
  const auto base = [](std::uint32_t owner, std::uint32_t shard) {
    return block_id{.model = model_id{owner},
                    .replica = {},
                    .step = {},
                    .kind = block_kind::base,
                    .shard = shard_index{shard},
                    .micro_batch = {}};
  };
  auto m = uniform(4, 3, 10, 30);
  for (std::uint32_t s = 0; s < 4; ++s) {
    m.bases.push_back({.promote = us(10), .bytes = byte_count{100}, .shared = base(0, s)});
  }
  const auto h2d = [](const std::vector<unit_times>& models, std::uint64_t memory) {
    return lower_bounds(models, {.speeds = {1.0}, .memory = byte_count{memory}}).h2d;
  };
  CHECK(h2d({m}, 400) == us(40));
  CHECK(h2d({m}, 200) == us(40 + 2 * (20 + 20) + 20));  // F 0..3, then down and up in turn, and down
  CHECK(h2d({m}, 250) == us(40 + 2 * (15 + 15) + 15));
  auto longer = m;
  longer.steps = 4;
  CHECK(h2d({m, longer, m}, 200) == us(40 + 3 * (20 + 20) + 20));
  longer.bases[0].shared = base(1, 0);  // they still have three in common
  CHECK(h2d({m, longer}, 200) == us(40 + 3 * (20 + 20) + 20));
  for (auto& b : longer.bases) {
    b.shared.reset();
  }
  CHECK(h2d({m, longer}, 200) == us(140 + 180));
  m.first_trained = 2;  // B_3, B_2, F_0: one of them is not there
  CHECK(h2d({m}, 200) == us(40 + 2 * (10 + 20)));
  m.bases[3].promote = us(50);
  CHECK(h2d({m}, 200) == us(80 + 2 * (10 + 20)));  // the largest ones stay
}

TEST_CASE("parameters for which there is no memory cross a link for both visits of a step", "[bounds]") {
  const auto us = [](int n) { return std::chrono::microseconds{n}; };
  auto m = uniform(4, 3, 10, 30);
  m.promote = durations(4, us(10));
  m.parameters.assign(4, byte_count{100});
  m.last_visit = byte_count{150};
  const auto h2d = [](const unit_times& model, std::uint64_t memory) {
    return lower_bounds({&model, 1}, {.speeds = {1.0}, .memory = byte_count{memory}}).h2d;
  };
  CHECK(h2d(m, 450) == us(3 * 40));
  CHECK(h2d(m, 350) == us(3 * (40 + 10)));  // next to the last shard's visit there is room for two of three
  CHECK(h2d(m, 300) == us(3 * (40 + 15)));  // and a half
  CHECK(h2d(m, 150) == us(3 * (40 + 30)));
  CHECK(h2d(m, 100) == us(3 * (40 + 30)));
  m.promote[1] = us(40);
  CHECK(h2d(m, 250) == us(3 * (70 + 20)));  // the slowest one stays
  m.first_trained = 2;                      // only one of the others is visited again
  CHECK(h2d(m, 250) == us(3 * 70));
  CHECK(h2d(m, 200) == us(3 * (70 + 5)));
  m.evaluated_last = true;
  CHECK(h2d(m, 200) == us(3 * (70 + 5) + 70));
}

TEST_CASE("replicas are more work and no longer chain; an evaluation is shared by them", "[bounds]") {
  auto m = uniform(2, 3, 10, 40);
  const resources two{.speeds = {1.0, 1.0}};
  const auto one_replica = lower_bounds(std::vector{m}, two);
  m.replicas = 2;
  const auto b = lower_bounds(std::vector{m}, two);
  CHECK(b.chain == one_replica.chain);
  CHECK(b.work == one_replica.work * 2);
  CHECK(b.uniform == b.work);  // its replicas keep both devices busy
  m.evaluate = durations(2, std::chrono::microseconds{1});
  m.evaluation_micro_batches = 5;
  m.evaluations = 1;
  m.evaluated_last = true;
  const auto evaluated = lower_bounds(std::vector{m}, two);
  CHECK(evaluated.chain == b.chain + std::chrono::microseconds{6});
  CHECK(evaluated.work == b.work + std::chrono::microseconds{5});
  m.demote = durations(2, std::chrono::microseconds{50});
  CHECK(lower_bounds(std::vector{m}, two).d2h == std::chrono::microseconds{300});
}

TEST_CASE("the chain bound of waves is the longest path through their backward visits", "[bounds]") {
  auto m = uniform(3, 2, 10, 30);
  m.backward[1] = std::chrono::microseconds{50};
  m.waves = 4;
  const auto b = lower_bounds(std::vector{m}, resources{.speeds = std::vector<double>(4, 1.0)});
  CHECK(b.chain == 2 * std::chrono::microseconds{2 * 10 + 30 + 50 + 30 + 3 * 50});
  CHECK(b.work == 2 * std::chrono::microseconds{2 * 10 + 30 + 50 + 30});
}

TEST_CASE("the step boundary of waves starts with the gradients of the last one", "[bounds]") {
  auto m = uniform(2, 2, 10, 30);
  m.waves = 3;
  m.promote[0] = std::chrono::microseconds{5};
  m.demote[0] = std::chrono::microseconds{7};
  m.update[0] = std::chrono::microseconds{11};
  const auto b = lower_bounds(std::vector{m}, resources{.speeds = std::vector<double>(3, 1.0)});
  CHECK(b.chain == std::chrono::microseconds{5 + 2 * (10 + 30 + 30 + 2 * 30) + 23 + 18});
  CHECK(b.d2h == std::chrono::microseconds{2 * 3 * 7 / 3});  // every wave's sum goes down
}

TEST_CASE("shards side by side count with the longest of them in the chain bound, and as lanes", "[bounds]") {
  auto m = uniform(4, 2, 10, 30);  // the last one: 30 in all
  m.groups = {{.first = 1, .count = 2}};
  m.backward[2] = std::chrono::microseconds{50};
  const auto b = lower_bounds(std::vector{m}, resources{.speeds = {1.0, 1.0, 1.0}});
  CHECK(b.chain == 2 * std::chrono::microseconds{10 + 10 + 30 + 50 + 30});
  CHECK(b.work == 2 * duration{std::chrono::microseconds{3 * 10 + 3 * 30 + 50}} / 3);
  CHECK(b.uniform == 2 * std::chrono::microseconds{2 * 10 + 3 * 30});  // all but shard 2
}

TEST_CASE("the first wave has an even share of an evaluation before its step", "[bounds]") {
  auto m = uniform(2, 2, 10, 30);  // a step takes 130 us
  m.waves = 3;
  m.evaluate = durations(2, std::chrono::microseconds{25});
  m.evaluation_micro_batches = 4;
  m.evaluations = 1;
  const auto b = lower_bounds(std::vector{m}, resources{.speeds = std::vector<double>(3, 1.0)});
  CHECK(b.chain == std::chrono::microseconds{130 + 2 * 50 + 130});
}

TEST_CASE("no schedule of replicas and waves, made by chance, beats a bound", "[bounds]") {
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    std::mt19937 rng{seed};
    std::vector<unit_times> models(1 + rng() % 3);
    std::ranges::generate(models, [&] { return random_lanes(rng); });
    const auto speeds = random_speeds(rng);
    const auto b = lower_bounds(models, resources{.speeds = speeds});
    INFO("seed " << seed);
    REQUIRE(random_schedule{models, speeds, seed}.run() >= std::max({b.work, b.chain, b.uniform}));
  }
}

TEST_CASE("a model in waves on as many devices attains the chain bound", "[bounds]") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 rng{seed};
    auto m = random_lanes(rng);
    m.evaluations = m.evaluated_last = 0;
    const std::vector<double> speeds(std::size_t{m.replicas} * m.waves * most_side_by_side(m.groups), 1.0);
    INFO("seed " << seed);
    REQUIRE(random_schedule{{m}, speeds, seed}.run() ==
            lower_bounds(std::vector{m}, resources{.speeds = speeds}).chain);
  }
}
