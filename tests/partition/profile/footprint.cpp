#include "partition/profile/footprint.hpp"

#include "partition/execute/visit.hpp"
#include "runtime/device/cpu/accounting_allocator.hpp"
#include "runtime/device/device_block.hpp"
#include "tests/support/block_names.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/tensors.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace {

device_block_ptr zeroed(byte_count n) {
  auto block = std::make_shared<device_block>();
  block->tensor = tensor_of(n);
  block->tensor.zero_();
  return block;
}

micro_batch_blocks inputs_for(const sharded_model& m, const unit& u, std::size_t k) {
  const auto in = inputs_of(u, m.plan.shape(), micro_batch_index{static_cast<std::uint32_t>(k)});
  return {zeroed(bytes_of(m.plan, in.input)), in.second ? zeroed(bytes_of(m.plan, *in.second)) : nullptr, nullptr};
}

/// The most that a visit is charged when its blocks are allocated and freed as by a device's pipeline: parameters and
/// the first inputs to the end, inputs of the micro-batch that computes and of the next, its output and the one before.
byte_count charged_peak(const std::shared_ptr<const sharded_model>& m, const unit& u) {
  memory_account account(byte_count{1ull << 40});
  const charge_to charged(account);
  const auto& shard = m->plan.shards[u.shard.value];
  const parameter_blocks parameters{zeroed(shard.parameters), shard.base > byte_count{} ? zeroed(shard.base) : nullptr};
  std::vector<micro_batch_blocks> batches{inputs_for(*m, u, 0)};
  const auto first = batches[0];
  visit work(m, u, 1);
  visit::results results;
  results.gradients = has_gradients(u) ? std::make_shared<device_block>() : nullptr;
  results.loss = has_loss(u, m->plan.shape()) ? std::make_shared<device_block>() : nullptr;
  for (std::size_t k = 0; k < u.micro_batches; ++k) {
    if (k + 1 < u.micro_batches) {
      batches.push_back(inputs_for(*m, u, k + 1));
    }
    batches[k].output =
        output_of(u, m->plan.shape(), micro_batch_index{0}) ? std::make_shared<device_block>() : nullptr;
    work.run(k, parameters, batches[k], results);
    batches[k].input.reset();
    batches[k].second.reset();
    if (k > 0) {
      batches[k - 1].output.reset();
    }
  }
  return account.peak();
}

byte_count formula(const sharded_model& m, const unit& u) {
  const auto& f = m.plan.footprint_of(u);
  return f.staging() + f.working;
}

/// No visit of the model takes more than the formula allows.
void check_all_visits(const small_model& model, const cut_points& cuts, std::uint32_t micro_batches) {
  const auto m = cut_model(model, {.cuts = cuts, .micro_batches = micro_batches, .samples = 3});
  for (std::uint32_t s = 0; s < m->size(); ++s) {
    for (const auto way : {direction::forward, direction::backward, direction::evaluate}) {
      const bool none =
          way == direction::forward ? s + 1 == m->size() : way == direction::backward && s < m->plan.first_trained;
      if (none) {
        continue;
      }
      const auto u = visit_of(*m, way, s);
      INFO(to_string(u) << " of " << m->size() << " shards, K = " << micro_batches);
      CHECK(charged_peak(m, u) <= formula(*m, u));
    }
  }
}

}  // namespace

TEST_CASE("no visit of a GPT is charged more than parameters, inputs and working bytes of its footprint") {
  const auto micro_batches = GENERATE(1u, 2u, 3u, 5u);
  const auto model = small_gpt({.layers = 2, .width = 32, .heads = 4, .context = 12, .dropout = GENERATE(0.0, 0.1)});
  const auto cuts = GENERATE(cut_points{0}, cut_points{0, 2}, cut_points{0, 1, 3}, cut_points{0, 1, 2, 3});
  check_all_visits(model, cuts, micro_batches);
}

TEST_CASE("no visit of an MLP is charged more than parameters, inputs and working bytes of its footprint") {
  const auto micro_batches = GENERATE(1u, 2u, 3u, 5u);
  const auto model = small_mlp({.layers = 3, .width = 64, .dropout = GENERATE(0.0, 0.1)});
  const auto cuts = GENERATE(cut_points{0}, cut_points{0, 1}, cut_points{0, 2, 3}, cut_points{0, 1, 2, 3});
  check_all_visits(model, cuts, micro_batches);
}

TEST_CASE("no visit of a CNN is charged more than parameters, inputs and working bytes of its footprint") {
  const auto micro_batches = GENERATE(1u, 2u, 3u);
  const auto model = small_cnn({.stages = 2, .blocks = 1, .width = GENERATE(4, 32)});
  const auto cuts = GENERATE(cut_points{0}, cut_points{0, 1}, cut_points{0, 2, 3}, cut_points{0, 1, 2, 3});
  check_all_visits(model, cuts, micro_batches);
}

TEST_CASE(
    "no visit of a partly frozen model is charged more than its footprint, which saves nothing below what is trained") {
  const auto whole = small_gpt({.layers = 3, .width = 32, .heads = 4, .context = 12, .dropout = GENERATE(0.0, 0.1)});
  chain body = *whole.body;
  body.freeze(freezing{{"*", "!*h.2.*"}});
  const small_model partly{whole.data, std::make_shared<const chain>(body)};
  for (const auto& model : {partly, rounded(partly)}) {
    for (const auto& cuts : {cut_points{0}, cut_points{0, 2}, cut_points{0, 1, 3}, cut_points{0, 1, 2, 3, 4}}) {
      check_all_visits(model, cuts, 1);
      check_all_visits(model, cuts, 3);
    }
  }
  const auto all = profile_of(whole, 3), frozen = profile_of(partly, 3);
  const auto saved = all.layers[0].saved + all.layers[1].saved;
  CHECK(footprint_of(frozen, 0, 5, direction::backward).working + saved <
        footprint_of(all, 0, 5, direction::backward).working + byte_count{1});
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(frozen.layers[i].backward == frozen.layers[i].forward);
  }
  CHECK(frozen.layers[3].backward > frozen.layers[3].forward);
}

TEST_CASE("in bf16 no visit is charged more than parameters, inputs and working bytes of its footprint") {
  const auto micro_batches = GENERATE(1u, 2u, 3u);
  const auto model = GENERATE(small_gpt({.layers = 2, .width = 32, .heads = 4, .context = 12, .dropout = 0.1}),
                              small_mlp({.layers = 3, .width = 64, .dropout = 0.1}),
                              small_mlp({.layers = 3, .width = 700}),  // parts that are not widened at once
                              small_cnn({.stages = 2, .blocks = 1, .width = 8}));
  const auto cuts = GENERATE(cut_points{0}, cut_points{0, 2}, cut_points{0, 1, 2, 3});
  check_all_visits(rounded(model, GENERATE(precision::fp32, precision::bf16)), cuts, micro_batches);
}

TEST_CASE("gradients in bf16 need no more memory, and their sum's is free when the visit has computed") {
  const auto model = small_gpt({.layers = 1, .width = 32, .heads = 4, .context = 12});
  const auto wide = cut_model(rounded(model), {.cuts = {0, 1}}),
             narrow = cut_model(rounded(model, precision::bf16), {.cuts = {0, 1}});
  for (std::size_t s = 0; s < 2; ++s) {
    const auto& a = wide->plan.shards[s].backward;
    const auto& b = narrow->plan.shards[s].backward;
    CHECK(b.computing() == a.computing());
    CHECK(b.staging() == a.staging());
    CHECK(b.write_back + b.parameters == a.write_back);
    CHECK(b.write_back >= narrow->plan.shards[s].gradient_bytes());
  }
}

TEST_CASE("the footprint covers the loss where a large vocabulary makes it the largest part") {
  const auto model = small_gpt({.layers = 1, .width = 4, .heads = 1, .context = 16, .vocabulary = 4000, .tied = false});
  check_all_visits(model, {0, 2}, 1);
}

TEST_CASE("the footprint is within twice of what a visit takes where saved activations dominate") {
  const auto model = small_gpt({.layers = 3, .width = 64, .heads = 4, .context = 64, .dropout = 0.1});
  const auto m = cut_model(model, {.cuts = {0, 2}, .micro_batches = 2, .samples = 4});
  for (std::uint32_t s = 0; s < 2; ++s) {
    const auto u = visit_of(*m, direction::backward, s);
    INFO("shard " << s);
    CHECK(formula(*m, u) < charged_peak(m, u) * 2);
  }
}

TEST_CASE("the footprint of a forward visit is within twice of what it takes where parameters dominate") {
  const auto model = small_mlp({.layers = 3, .width = 512});
  const auto m = cut_model(model, {.cuts = {0, 1, 2}, .samples = 2});
  const auto u = visit_of(*m, direction::forward, 1);
  CHECK(formula(*m, u) < charged_peak(m, u) * 2);
}

TEST_CASE("a footprint's sums are what is staged and what is computed with") {
  const footprint f{.parameters = byte_count{5}, .first_inputs = byte_count{3}, .working = byte_count{11}};
  CHECK(f.staging() == byte_count{8});
  CHECK(f.computing() == byte_count{16});
}

TEST_CASE("a shard demands what the largest of its visits needs; the last one has no forward visit") {
  const auto profile = profile_of(small_gpt({.layers = 2, .width = 16, .heads = 2, .context = 6}), 2);
  const auto forward = footprint_of(profile, 1, 2, direction::forward);
  const auto backward = footprint_of(profile, 1, 2, direction::backward);
  const auto demand = demand_of(profile, 1, 2);
  CHECK(demand.staging == std::max(forward.staging(), backward.staging()));
  CHECK(demand.computing == std::max(forward.computing(), backward.computing()));
  auto hungry = profile;
  hungry.layers[1].forward_transient = byte_count{1u << 30};
  CHECK(demand_of(hungry, 1, 2).computing > byte_count{1u << 30});
  const auto last = footprint_of(profile, 2, 4, direction::backward);
  CHECK(demand_of(profile, 2, 4).staging == last.staging());
  CHECK(demand_of(profile, 2, 4).computing == last.computing());
}
