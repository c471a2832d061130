#include "actors/input/batch_reader.hpp"

#include "partition/plan/plan_outline.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <cstring>

using namespace hydra;
using namespace hydra::literals;

namespace {

/// Sample i is the number i, twice; its target is 100 + i. Every third target does not count.
class numbered final : public data_source {
 public:
  std::size_t samples(split) const override { return 10; }
  tensor_spec sample_input() const override { return {{2}, element::i64}; }
  tensor_spec sample_target() const override { return {{1}, element::i64}; }
  std::int64_t classes() const override { return 200; }
  std::size_t read(split, std::size_t i, std::span<std::byte> input, std::span<std::byte> target) const override {
    ++reads;
    const std::int64_t numbers[] = {static_cast<std::int64_t>(i), static_cast<std::int64_t>(i),
                                    100 + static_cast<std::int64_t>(i)};
    REQUIRE(input.size() == 16);
    REQUIRE(target.size() == 8);
    std::memcpy(input.data(), numbers, 16);
    std::memcpy(target.data(), numbers + 2, 8);
    return i % 3 == 0 ? 0 : 1;
  }
  std::string describe() const override { return "numbers"; }

  mutable std::size_t reads = 0;
};

/// Two micro-batches of two samples; three shards.
model_entry entry() {
  auto what = std::make_shared<sharded_model>();
  what->name = "counting";
  what->plan.micro_batches = 2;
  what->plan.samples = 2;
  what->plan.evaluation = {.micro_batches = 4, .round = 3};
  what->plan.shards.resize(3);
  what->plan.shards.front().input = 32_B;
  what->plan.shards.back().targets = 16_B;
  what->graphs = graphs_of(what->plan);
  return {.what = what, .memory = {}, .standing = {},
          .data = {std::make_shared<numbered>(), batch_order{.samples = 10, .batch_size = 4, .seed = 3}}};
}

/// Both micro-batches of a step.
batch_range training(std::uint32_t step) { return {.step = step_index{step}, .first = {}, .micro_batches = 2}; }

std::vector<std::int64_t> numbers_in(const host_block_ptr& block) {
  std::vector<std::int64_t> numbers(block->size().value() / 8);
  std::memcpy(numbers.data(), block->data(), numbers.size() * 8);
  return numbers;
}

std::vector<std::vector<std::int64_t>> contents(const read_batch& batch) {
  std::vector<std::vector<std::int64_t>> all;
  for (const auto& [id, block] : batch.blocks) {
    all.push_back(numbers_in(block));
  }
  return all;
}

}  // namespace

TEST_CASE("a batch is one minibatch block and one block of targets per micro-batch, named for shards 0 and last") {
  const auto arena = make_host_arena(1_MiB);
  batch_reader reader(model_id{7}, entry(), *arena);
  const auto batch = reader.read(training(5));
  REQUIRE(batch.blocks.size() == 4);
  CHECK(to_string(batch.blocks[0].first) == "minibatch of model 7 shard 0 step 5 micro-batch 0");
  CHECK(to_string(batch.blocks[3].first) == "targets of model 7 shard 2 step 5 micro-batch 1");
  CHECK(batch.blocks[2].second->size() == 32_B);
  CHECK(batch.blocks[3].second->size() == 16_B);
}

TEST_CASE("micro-batch k reads the k-th part of the step's samples, in their order") {
  const auto arena = make_host_arena(1_MiB);
  const auto m = entry();
  const auto samples = m.data.order.batch(1);
  const auto batch = batch_reader(model_id{}, m, *arena).read(training(1));
  std::size_t counted = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto n = static_cast<std::int64_t>(samples[i]);
    const auto k = i / 2;
    CHECK(numbers_in(batch.blocks[2 * k].second)[2 * (i % 2)] == n);
    CHECK(numbers_in(batch.blocks[2 * k].second)[2 * (i % 2) + 1] == n);
    CHECK(numbers_in(batch.blocks[2 * k + 1].second)[i % 2] == 100 + n);
    counted += n % 3 == 0 ? 0 : 1;
  }
  CHECK(batch.targets == counted);
}

TEST_CASE("a step's batch is the same when asked for twice and out of order") {
  const auto arena = make_host_arena(1_MiB);
  const auto m = entry();
  batch_reader wild(model_id{}, m, *arena);
  for (const std::uint32_t step : {4u, 0u, 4u, 1u, 0u}) {
    batch_reader fresh(model_id{}, m, *arena);
    CHECK(contents(wild.read(training(step))) == contents(fresh.read(training(step))));
  }
}

TEST_CASE("an evaluation reads the validation data in their order, each range where the one before ended") {
  const auto arena = make_host_arena(1_MiB);
  batch_reader reader(model_id{}, entry(), *arena);
  const auto batch = reader.read({pass_kind::evaluation, step_index{9}, micro_batch_index{1}, 3});
  REQUIRE(batch.blocks.size() == 6);
  CHECK(to_string(batch.blocks[4].first) == "minibatch of model 0 shard 0 step 9 micro-batch 3 (evaluation)");
  CHECK(numbers_in(batch.blocks[0].second) == std::vector<std::int64_t>{2, 2, 3, 3});
  CHECK(numbers_in(batch.blocks[5].second) == std::vector<std::int64_t>{106, 107});
  CHECK(batch.targets == 4);  // of samples 2 to 7, without 3 and 6
}

TEST_CASE("a batch that does not fit the host's memory is refused and leaves nothing behind") {
  const auto arena = make_host_arena(host_charge(32_B) + host_charge(16_B));
  batch_reader reader(model_id{}, entry(), *arena);
  CHECK_THROWS_WITH(reader.read(training(0)), Catch::Matchers::Contains("minibatch of counting"));
  CHECK(arena->budget().used() == 0_B);
}

TEST_CASE("a batch for which there is not enough memory is not read from the disk") {
  const auto arena = make_host_arena(host_charge(32_B) + host_charge(16_B));
  auto model = entry();
  const auto source = std::make_shared<numbered>();
  model.data.source = source;
  batch_reader reader(model_id{}, model, *arena);
  CHECK_THROWS_AS(reader.read(training(0)), fault_error);
  CHECK(source->reads == 0);
}

TEST_CASE("the last micro-batch of an evaluation is filled with a sample that does not count") {
  auto model = entry();
  auto three = std::make_shared<sharded_model>(*model.what);
  three->plan.samples = 3;
  three->plan.shards.front().input = 48_B;
  three->plan.shards.back().targets = 24_B;
  three->graphs = graphs_of(three->plan);
  model.what = three;
  const auto arena = make_host_arena(1_MiB);
  batch_reader reader(model_id{}, model, *arena);
  const batch_range last{
      .pass = pass_kind::evaluation, .step = step_index{1}, .first = micro_batch_index{3}, .micro_batches = 1};
  const auto batch = reader.read(last);  // samples 9, 10, 11 of ten
  CHECK(contents(batch) == std::vector<std::vector<std::int64_t>>{{9, 9, 9, 9, 9, 9}, {109, -100, -100}});
  CHECK(batch.targets == 0);  // that of sample 9 does not count
}

namespace {

/// Takes more memory than there is, or has lost its file.
class refusing final : public data_source {
 public:
  explicit refusing(bool changed) : changed_(changed) {}
  std::size_t samples(split) const override { return 10; }
  tensor_spec sample_input() const override { return {{2}, element::i64}; }
  tensor_spec sample_target() const override { return {{1}, element::i64}; }
  std::int64_t classes() const override { return 200; }
  std::size_t read(split, std::size_t, std::span<std::byte>, std::span<std::byte>) const override {
    throw std::bad_alloc();
  }
  void require_unchanged() const override {
    if (changed_) {
      throw fault_error(fault_code::io, "numbers.txt has changed");
    }
  }
  std::string describe() const override { return "numbers"; }

 private:
  bool changed_;
};

fault refusal_of_reading(bool changed) {
  const auto arena = make_host_arena(1_MiB);
  auto e = entry();
  e.data.source = std::make_shared<refusing>(changed);
  batch_reader reader(model_id{7}, e, *arena);
  try {
    reader.read(training(0));
  } catch (const fault_error& error) {
    return error.what_happened();
  }
  return {};
}

}  // namespace

TEST_CASE("a lack of memory in a source does not wait for other models, as one of the arena does") {
  CHECK(refusal_of_reading(false).code == fault_code::io);
}

TEST_CASE("data are not read when their file has changed") {
  CHECK(refusal_of_reading(true).text == "numbers.txt has changed");
}
