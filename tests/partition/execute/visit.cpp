#include "partition/execute/visit.hpp"

#include "models/optimizer/bf16.hpp"
#include "partition/execute/shard_tensors.hpp"
#include "runtime/device/device_block.hpp"
#include "runtime/memory/block_copy.hpp"
#include "tests/models/numeric.hpp"
#include "tests/support/small_models.hpp"

#include <catch2/catch.hpp>

#include <cstring>

using namespace hydra;
using namespace hydra::test;

namespace {

/// A block as it is after a copy: raw bytes.
device_block_ptr raw(const at::Tensor& t) {
  auto block = std::make_shared<device_block>();
  block->tensor = zeros({static_cast<std::int64_t>(t.nbytes())}, at::kByte);
  std::memcpy(block->tensor.mutable_data_ptr(), t.const_data_ptr(), t.nbytes());
  return block;
}

std::shared_ptr<sharded_model> gpt(std::uint32_t micro_batches) {
  const auto m = small_gpt({.layers = 1, .width = 16, .heads = 2, .context = 6, .dropout = 0.1, .tied = false});
  return cut_model(m, {.cuts = {0, 2}, .micro_batches = micro_batches, .samples = 2});
}

at::Tensor parameters_of(const sharded_model& m, std::size_t s) {
  const auto flat = zeros({static_cast<std::int64_t>(m.shards[s].layout().elements())});
  m.shards[s].layout().initialise(values(flat), *m.model, m.seed);
  return flat;
}

}  // namespace

TEST_CASE("a forward visit computes on raw bytes what its shard computes on tensors") {
  const auto m = gpt(2);
  const auto parameters = parameters_of(*m, 0);
  const auto ids = random_ids({2, 6}, 11, 1);
  visit work(m, visit_of(*m, direction::forward, 0), 24);
  for (const std::size_t k : {0, 1}) {
    const micro_batch_blocks blocks{raw(ids), nullptr, std::make_shared<device_block>()};
    work.run(k, {raw(parameters)}, blocks, {});
    const visit_context where{.seed = m->seed, .step = 0, .micro_batch = static_cast<std::uint32_t>(k), .targets = 24};
    CHECK(same_bits(blocks.output->tensor, m->shards[0].forward(parameters, ids, where)));
  }
}

TEST_CASE("a backward visit leaves the sum of its micro-batches' gradients, and their losses") {
  const auto m = gpt(2);
  const auto flat = parameters_of(*m, 1);
  const auto x = random_tensor({2, 6, 16}, 3);
  const auto targets = random_ids({2, 6}, 11, 4);
  visit work(m, visit_of(*m, direction::backward, 1), 24);
  const visit::results out{std::make_shared<device_block>(), std::make_shared<device_block>()};
  const auto expected = zeros({flat.numel()});
  const auto bound = m->shards[1].bind(flat, expected);
  for (const std::uint32_t k : {0u, 1u}) {
    const micro_batch_blocks blocks{raw(x), raw(targets), std::make_shared<device_block>()};
    work.run(k, {raw(flat)}, blocks, out);
    const visit_context where{.seed = m->seed, .step = 0, .micro_batch = k, .targets = 24};
    const auto result = m->shards[1].backward(bound, x, targets, where);
    CHECK(same_bits(blocks.output->tensor, result.input_gradient));
    CHECK(same_bits(out.loss->tensor.select(0, k), result.loss));
  }
  CHECK(same_bits(out.gradients->tensor, expected));
  CHECK(out.loss->tensor.numel() == 2);
}

TEST_CASE("after its last micro-batch a visit holds neither parameters nor gradients") {
  const auto m = gpt(2);
  const auto flat = raw(parameters_of(*m, 1));
  visit work(m, visit_of(*m, direction::backward, 1), 24);
  const visit::results out{std::make_shared<device_block>(), std::make_shared<device_block>()};
  for (const std::size_t k : {0, 1}) {
    work.run(k, {flat},
             {raw(random_tensor({2, 6, 16}, 3)), raw(random_ids({2, 6}, 11, 4)), std::make_shared<device_block>()},
             out);
    CHECK((flat->tensor.storage().use_count() > 1) == (k == 0));
    CHECK((out.gradients->tensor.storage().use_count() > 1) == (k == 0));
  }
}

TEST_CASE("a visit that is run again from its first micro-batch starts with zero gradients") {
  const auto m = gpt(1);
  const auto flat = parameters_of(*m, 1);
  const micro_batch_blocks blocks{raw(random_tensor({2, 6, 16}, 3)), raw(random_ids({2, 6}, 11, 4)),
                                  std::make_shared<device_block>()};
  visit work(m, visit_of(*m, direction::backward, 1), 12);
  const visit::results out{std::make_shared<device_block>(), std::make_shared<device_block>()};
  work.run(0, {raw(flat)}, blocks, out);
  const auto once = out.gradients->tensor;
  work.run(0, {raw(flat)}, blocks, out);
  CHECK(same_bits(once, out.gradients->tensor));
}

TEST_CASE("a later wave adds to the sum of the one before, in its block or in one of its own") {
  const auto m = gpt(2);
  const auto flat = parameters_of(*m, 1);
  const auto x = random_tensor({2, 6, 16}, 3);
  const auto targets = random_ids({2, 6}, 11, 4);
  const auto run = [&](visit& work, std::size_t k, const visit::results& out) {
    work.run(k, {raw(flat)}, {raw(x), raw(targets), std::make_shared<device_block>()}, out);
  };
  visit whole(m, visit_of(*m, direction::backward, 1), 24);
  const visit::results expected{std::make_shared<device_block>(), std::make_shared<device_block>()};
  run(whole, 0, expected);
  const auto first = raw(expected.gradients->tensor);
  run(whole, 1, expected);
  auto second = visit_of(*m, direction::backward, 1);
  second.wave = wave_index{1};
  second.first_micro_batch = micro_batch_index{1};
  second.micro_batches = 1;
  for (const bool in_place : {false, true}) {
    INFO((in_place ? "in place" : "in a block of its own"));
    visit work(m, second, 24);
    const auto gradients = in_place ? first : std::make_shared<device_block>();
    const auto before = raw(first->tensor)->tensor;
    run(work, 0, {gradients, std::make_shared<device_block>(), first});
    CHECK(same_bits(gradients->tensor, expected.gradients->tensor));
    CHECK((in_place || same_bits(first->tensor, before)));
  }
}

TEST_CASE("an evaluation of the last shard leaves loss and right predictions of each micro-batch, without dropout") {
  const auto m = gpt(2);
  const auto flat = parameters_of(*m, 1);
  visit work(m, visit_of(*m, direction::evaluate, 1), 24);
  const visit::results out{nullptr, std::make_shared<device_block>()};
  std::vector<at::Tensor> scores;
  for (const std::uint32_t k : {0u, 1u}) {
    const auto x = random_tensor({2, 6, 16}, 3 + k);
    const auto targets = random_ids({2, 6}, 11, 4);
    work.run(k, {raw(flat)}, {raw(x), raw(targets), nullptr}, out);
    scores.push_back(m->shards[1].score(flat, x, targets, {.seed = 99, .training = false}));
  }
  const std::span written_back(out.loss->tensor.const_data_ptr<float>(), 4);
  const auto reported = scores_in(written_back);
  REQUIRE(reported.size() == 2);
  for (const std::size_t k : {0, 1}) {
    CHECK(reported[k].loss == scores[k].const_data_ptr<float>()[0]);
    CHECK(reported[k].correct == scores[k].const_data_ptr<float>()[1]);
    CHECK(reported[k].loss > 0);
  }
  CHECK(reported[0].loss != reported[1].loss);
}

TEST_CASE("an evaluation drops nothing out") {
  const auto m = gpt(1);
  const auto flat = parameters_of(*m, 0);
  const auto ids = random_ids({2, 6}, 11, 1);
  visit work(m, visit_of(*m, direction::evaluate, 0), 1);
  const micro_batch_blocks blocks{raw(ids), nullptr, std::make_shared<device_block>()};
  work.run(0, {raw(flat)}, blocks, {});
  const visit_context training{.seed = m->seed};
  auto plain = training;
  plain.training = false;
  CHECK(same_bits(blocks.output->tensor, m->shards[0].forward(flat, ids, plain)));
  CHECK_FALSE(same_bits(blocks.output->tensor, m->shards[0].forward(flat, ids, training)));
}

namespace {

std::shared_ptr<sharded_model> gpt_in_bf16(std::uint32_t micro_batches, precision gradients = precision::fp32) {
  const auto m = small_gpt({.layers = 1, .width = 16, .heads = 2, .context = 6, .dropout = 0.1, .tied = false});
  return cut_model(rounded(m, gradients), {.cuts = {0, 2}, .micro_batches = micro_batches, .samples = 2});
}

}  // namespace

TEST_CASE("in bf16 a backward visit leaves fp32 sums of its micro-batches' bf16 gradients") {
  const auto m = gpt_in_bf16(3);
  const auto flat = parameters_of(*m, 1).to(at::kBFloat16);
  const auto targets = random_ids({2, 6}, 11, 4);
  visit work(m, visit_of(*m, direction::backward, 1), 36);
  const visit::results out{std::make_shared<device_block>(), std::make_shared<device_block>()};
  auto expected = zeros({flat.numel()});
  for (const std::uint32_t k : {0u, 1u, 2u}) {
    const auto x = random_tensor({2, 6, 16}, 3 + k).to(at::kBFloat16);
    const micro_batch_blocks blocks{raw(x), raw(targets), std::make_shared<device_block>()};
    work.run(k, {raw(flat)}, blocks, out);
    const auto one = zeros({flat.numel()}, at::kBFloat16);
    const visit_context where{.seed = m->seed, .step = 0, .micro_batch = k, .targets = 36};
    const auto result = m->shards[1].backward(m->shards[1].bind(flat, one), x, targets, where);
    CHECK(blocks.output->tensor.scalar_type() == at::kBFloat16);
    CHECK(same_bits(blocks.output->tensor, result.input_gradient));
    expected = expected.add(one.to(at::kFloat));
  }
  CHECK(out.gradients->tensor.scalar_type() == at::kFloat);
  CHECK(same_bits(out.gradients->tensor, expected));
  CHECK(out.loss->tensor.scalar_type() == at::kFloat);
}

namespace {

/// The outputs of two micro-batches of the last shard.
at::Tensor gradients_of_two(const std::shared_ptr<sharded_model>& m) {
  const auto flat = raw(parameters_of(*m, 1).to(at::kBFloat16));
  visit work(m, visit_of(*m, direction::backward, 1), 24);
  const visit::results out{std::make_shared<device_block>(), std::make_shared<device_block>()};
  for (const std::uint32_t k : {0u, 1u}) {
    work.run(k, {flat}, {raw(random_tensor({2, 6, 16}, 3 + k).to(at::kBFloat16)), raw(random_ids({2, 6}, 11, 4)),
                       std::make_shared<device_block>()}, out);
  }
  return out.gradients->tensor;
}

}  // namespace

TEST_CASE(
    "gradients in bf16 are the sum of all micro-batches, rounded once to the nearest and of two to the even one") {
  const auto m = gpt_in_bf16(2, precision::bf16);
  const auto sum = gradients_of_two(gpt_in_bf16(2)), write_back = gradients_of_two(m);
  std::vector<std::uint16_t> expected(static_cast<std::size_t>(sum.numel()));
  to_bf16(values(sum), expected);
  REQUIRE(write_back.scalar_type() == at::kBFloat16);
  REQUIRE(write_back.nbytes() == m->plan.shards[1].gradient_bytes().value());
  CHECK(std::memcmp(write_back.const_data_ptr(), expected.data(), write_back.nbytes()) == 0);
  CHECK(distance(write_back.to(at::kFloat), sum) > 0);
}

TEST_CASE("in bf16 a visit lets go of parameters, gradients and their parts after its last micro-batch") {
  const auto m = gpt_in_bf16(1, GENERATE(precision::fp32, precision::bf16));
  const auto flat = raw(parameters_of(*m, 1).to(at::kBFloat16));
  visit work(m, visit_of(*m, direction::backward, 1), 12);
  const visit::results out{std::make_shared<device_block>(), std::make_shared<device_block>()};
  work.run(0, {flat}, {raw(random_tensor({2, 6, 16}, 3).to(at::kBFloat16)), raw(random_ids({2, 6}, 11, 4)),
                     std::make_shared<device_block>()}, out);
  CHECK(flat->tensor.storage().use_count() == 1);
  CHECK(out.gradients->tensor.storage().use_count() == 1);
}

TEST_CASE("in bf16 an evaluation sums losses in fp32") {
  const auto m = gpt_in_bf16(1);
  const auto flat = parameters_of(*m, 1).to(at::kBFloat16);
  const auto x = random_tensor({2, 6, 16}, 3).to(at::kBFloat16);
  const auto targets = random_ids({2, 6}, 11, 4);
  const auto score = m->shards[1].score(flat, x, targets, {.seed = 1, .training = false});
  const auto logits = m->shards[1].forward(flat, x, {.seed = 1, .training = false});
  CHECK(logits.scalar_type() == at::kBFloat16);
  CHECK(score.const_data_ptr<float>()[0] == number(cross_entropy()->sum(logits.to(at::kFloat), targets)));
}
