#include "models/families/resnet/resnet.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/mixed_workload.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

constexpr auto on_device = optimizer_place::device;

const std::vector<number_formats> all_formats{
    {}, {.numbers = precision::bf16}, {.numbers = precision::bf16, .gradients = precision::bf16}};

/// All its shards can be updated on a device.
exact_case free_gpt(std::uint32_t micro_batches = 2) {
  auto c = tiny_gpt(0.1, false);
  c.micro_batches = micro_batches;
  c.cuts = {0, 2, 4};
  c.steps = 4;
  return c;
}

/// Batch norms in all layers but the head.
exact_case normed(std::uint32_t micro_batches) {
  exact_case c;
  c.chain = resnet({.depths = {1, 2}, .hidden_sizes = {8, 16}, .embedding_size = 4});
  c.data = open_data(
      {synthetic_classes{.shape = {3, 16, 16}, .classes = 5, .samples = 40, .validation_samples = 24}, true}, 0);
  c.batch_size = 8;
  c.micro_batches = micro_batches;
  c.optimizer = adamw({.learning_rate = 1e-2});
  c.cuts = {0, 2, 4};
  return c;
}

std::size_t stepped_shards(const model_plan& m) {
  return static_cast<std::size_t>(std::ranges::count_if(m.shards, &shard_plan::steps_on_device));
}

/// Devices that are just large enough, to the byte.
std::vector<cpu_device> least_devices(const std::vector<exact_case>& models, std::size_t n) {
  const auto plan = plan_of(models, {.devices = {roomy()}, .optimizer_on = on_device});
  return std::vector<cpu_device>(n, {.memory = plan.sufficient});
}

void require_bits(const std::vector<exact_case>& models, const spilled_result& spilled) {
  for (std::size_t i = 0; i < models.size(); ++i) {
    INFO("model " << i);
    REQUIRE(difference(train_plain(models[i]), spilled, i) == "");
  }
  for (const auto& d : spilled.summary.devices) {
    REQUIRE(d.peak <= d.budget);
  }
}

}  // namespace

TEST_CASE("updates on the device have the bits of updates on the host", "[exactness][device-steps]") {
  const std::vector<update_options> rules{
      adamw({.learning_rate = 1e-2}), sgd({.learning_rate = 0.05, .momentum = 0.9, .nesterov = true}),
      sgd({.learning_rate = 0.05, .weight_decay = 0.01}), lion({.learning_rate = 1e-3})};
  const std::vector<cut_points> cuts{{0}, {0, 3}, {0, 1, 2, 3, 4}};
  for (const auto& row : combinations({all_formats.size(), 2, rules.size(), cuts.size()})) {
    auto c = tiny_gpt(0.1, false);
    c.numbers = all_formats[row[0]].numbers;
    c.gradients = all_formats[row[0]].gradients;
    c.micro_batches = row[1] == 0 ? 1 : 4;
    c.optimizer = rules[row[2]];
    c.cuts = cuts[row[3]];
    INFO("format " << row[0] << ", rule " << row[2] << ", " << c.cuts.size() << " shards, K = " << c.micro_batches);
    const auto spilled = train_spilled({c}, {.optimizer_on = on_device});
    REQUIRE(difference(train_plain(c), spilled, 0) == "");
    CHECK(spilled.summary.optimizer_busy == duration{});  // the host has updated nothing
  }
}

TEST_CASE("what must be updated on the host is, whatever is requested", "[exactness][device-steps]") {
  auto tied = free_gpt(), clips = free_gpt();
  tied.chain = tiny_gpt(0.1, true).chain;
  clips.optimizer.clip_norm = 0.5;
  const run_options options{.devices = {roomy(), roomy()}, .optimizer_on = on_device};
  const auto plan = plan_of({tied, clips, free_gpt()}, options);
  CHECK(stepped_shards(plan.models[0]) == 1);  // the one between the embedding and the head
  CHECK(plan.models[0].shards[1].steps_on_device);
  CHECK(stepped_shards(plan.models[1]) == 0);
  CHECK(stepped_shards(plan.models[2]) == 3);
  require_bits({tied, clips, free_gpt()}, train_spilled({tied, clips, free_gpt()}, options));
}

TEST_CASE("running averages are updated on the host", "[exactness][device-steps]") {
  const auto c = normed(2);
  const auto plan = plan_of({c}, {.optimizer_on = on_device});
  CHECK(stepped_shards(plan.models[0]) == 1);  // the head
  CHECK(plan.models[0].shards.back().steps_on_device);
  require_bits({c}, train_spilled({c}, {.optimizer_on = on_device}));
}

TEST_CASE("updates on devices keep within the smallest sufficient memory of device and host, to the byte",
          "[budgets][device-steps]") {
  const std::vector models{free_gpt(), free_gpt(4)};
  const auto formats = GENERATE(from_range(all_formats));
  auto rounded = models;
  for (auto& m : rounded) {
    m.numbers = formats.numbers;
    m.gradients = formats.gradients;
  }
  for (const std::size_t n : {1, 2}) {
    run_options options{.devices = least_devices(rounded, n), .optimizer_on = on_device};
    options.host_memory = planned_host_memory(rounded, options);
    const auto spilled = train_spilled(rounded, options);
    require_bits(rounded, spilled);
    CHECK(spilled.summary.host_peak <= options.host_memory);
  }
  auto less = least_devices(rounded, 1);
  less.front().memory = less.front().memory - 1_B;
  CHECK_THROWS(plan_of(rounded, {.devices = less, .optimizer_on = on_device}));
}

TEST_CASE("devices of other speeds, slow links and every ablation change no bit of updates on devices",
          "[schedules][device-steps]") {
  const std::vector models{free_gpt(), free_gpt(1)};
  auto devices = least_devices(models, 2);
  devices[1].speed = 0.4;
  devices[1].link = 100_MiB_per_s;
  for (int i = 0; i < 4; ++i) {
    INFO("ablation " << i);
    require_bits(models, train_spilled(models, {.devices = devices,
                                                .ablation = {.double_buffer = i != 1, .cache = i != 2, .sharp = i != 3},
                                                .optimizer_on = on_device}));
  }
}

TEST_CASE("a device that dies at any operation changes no bit where devices update",
          "[schedules][loss][device-steps]") {
  const std::vector models{free_gpt(), free_gpt(4)};
  const auto devices = least_devices(models, 2);
  const std::vector plain{train_plain(models[0]), train_plain(models[1])};
  std::size_t lost = 0;
  for (const std::size_t dies_at : sampled(moments(20, 400, 5), 8)) {
    INFO("the second device dies at operation " << dies_at);
    const auto spilled =
        train_spilled(models, {.devices = devices, .second_dies_at = dies_at, .optimizer_on = on_device});
    REQUIRE(difference(plain[0], spilled, 0) == "");
    REQUIRE(difference(plain[1], spilled, 1) == "");
    if (!spilled.summary.devices[1].lost) {
      break;  // the run ended before
    }
    ++lost;
  }
  CHECK(lost > (is_deep() ? 20 : 1));
}

namespace {

/// The only model is interrupted before backward computation `after` of every run; each run has another place for its
/// updates.
void interrupt_again_and_again(const exact_case& m, std::size_t after, const std::vector<optimizer_place>& places,
                               byte_rate link = 400_MiB_per_s) {
  const temporary_folder folder;
  run_options options{.devices = {{.memory = 8_MiB, .link = link}}, .output = folder.path(), .interrupt_at = after};
  for (std::size_t n = 0;; ++n) {
    options.optimizer_on = places[n % places.size()];
    options.resume = n > 0;
    const auto result = train_spilled({m}, options);
    if (!result.summary.interrupted) {
      CHECK(n > 1);
      return require_bits({m}, result);
    }
    REQUIRE(n < 200);
  }
}

}  // namespace

TEST_CASE("a run continues with plain training's bits when updates move between host and devices",
          "[resume][device-steps]") {
  auto all = free_gpt(1), some = free_gpt(1), head = normed(1);
  some.chain = tiny_gpt(0.1, true).chain;  // of it only the shard in the middle can be updated on a device
  using enum optimizer_place;
  for (auto* m : {&all, &some, &head}) {
    m->steps = 18;   // a run continues for some operations after its interruption: two must fit in any case
    m->evaluate_every = 0;
    for (const std::size_t after : sampled(std::vector<std::size_t>{9, 13, 16}, 1)) {
      INFO("interrupted before backward computation " << after);
      interrupt_again_and_again(*m, after, {device});
      interrupt_again_and_again(*m, after, {device, host});
      interrupt_again_and_again(*m, after, {automatic, host, device});
    }
  }
}

TEST_CASE("a step that is split between host and device is resumed", "[resume][device-steps]") {
  auto m = free_gpt(1);
  m.steps = 14;
  m.evaluate_every = 0;
  const auto slow = 20_MiB_per_s;  // whatever else the machine does, copying takes longer than an update
  const run_options options{.devices = {{.memory = 8_MiB, .link = slow}}, .optimizer_on = optimizer_place::automatic};
  const auto stepped = stepped_shards(plan_of({m}, options).models[0]);
  INFO(stepped << " of 3 shards are updated on the device");
  CHECK(stepped > 0);
  for (const std::size_t after : sampled(std::vector<std::size_t>{5, 6, 7, 8, 9, 10, 11, 12}, 3)) {
    INFO("interrupted before backward computation " << after);
    interrupt_again_and_again(m, after, {optimizer_place::automatic, optimizer_place::host}, slow);
  }
}

TEST_CASE("checkpoints during the run, observed steps and kept best states change no bit where devices update",
          "[resume][device-steps]") {
  auto c = free_gpt();
  c.steps = 6;
  c.keep_best = true;
  c.evaluate_every = 1;
  c.cuts = GENERATE(cut_points{0}, cut_points{0, 2, 4});
  const temporary_folder folder;
  run_options options{.output = folder.path(), .checkpoint = {.every_steps = 1, .every_minutes = 0, .keep = 2},
                      .optimizer_on = on_device};
  std::vector<float> seen;
  options.callbacks.push_back([&](const step_completed& e, control&) { seen.push_back(e.loss); });
  require_bits({c}, train_spilled({c}, options));
  CHECK(seen == train_plain(c).losses);
}

TEST_CASE("a model that joins is updated on devices, too", "[joining][device-steps]") {
  const auto a = free_gpt(), b = free_gpt(4);
  const auto spilled =
      train_spilled({a}, {.optimizer_on = on_device}, [&](session& s) { s.add_model(describe(b, 1)); });
  require_bits({a, b}, spilled);
  CHECK(spilled.summary.optimizer_busy == duration{});
}

TEST_CASE("the split by measured rates changes no bit, and leaves gaps that other models fill to the host",
          "[schedules][device-steps]") {
  const run_options options{.devices = {{.memory = 8_MiB, .link = 20_MiB_per_s}},
                            .optimizer_on = optimizer_place::automatic};
  const std::vector alone{free_gpt()}, several{free_gpt(), free_gpt(4)};
  CHECK(plan_of(alone, options).models[0].shards[0].steps_on_device);
  for (const auto& m : plan_of(several, options).models) {
    CHECK(stepped_shards(m) == 0);
  }
  require_bits(alone, train_spilled(alone, options));
  require_bits(several, train_spilled(several, options));
}
