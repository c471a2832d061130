// The smallest sufficient budget of random configurations of every family. A new family: one row in
// `families_under_test`.

#include "partition/plan/least_memory.hpp"
#include "partition/plan/plan.hpp"
#include "partition/plan/sufficient.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/small_resnet.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>

using namespace hydra;
using namespace hydra::test;

namespace {

using rng = std::mt19937;

std::int64_t between(rng& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

small_model random_mlp(rng& random) {
  return small_mlp(
      {.layers = between(random, 1, 4), .width = between(random, 1, 40), .dropout = random() % 2 == 0 ? 0.0 : 0.1});
}

small_model random_gpt(rng& random) {
  const auto heads = between(random, 1, 3);
  return small_gpt({.layers = between(random, 1, 3),
                    .width = heads * between(random, 1, 8),
                    .heads = heads,
                    .context = between(random, 1, 9),
                    .vocabulary = between(random, 11, 60),
                    .dropout = random() % 2 == 0 ? 0.0 : 0.1,
                    .tied = random() % 2 == 0});
}

small_model random_pieces(rng& random) {
  const auto heads = between(random, 2, 4);
  small_model m = small_gpt({.layers = between(random, 1, 2),
                             .width = heads * between(random, 1, 8),
                             .heads = heads,
                             .context = between(random, 1, 9),
                             .vocabulary = between(random, 11, 60),
                             .tied = random() % 2 == 0});
  m.body = std::make_shared<const chain>(chain{*m.body}.divide(static_cast<std::uint32_t>(heads)));
  return m;
}

small_model random_cnn(rng& random) {
  const auto groups = between(random, 1, 3);
  return small_cnn({.stages = between(random, 1, 3),
                    .blocks = between(random, 1, 2),
                    .width = groups * between(random, 1, 3),
                    .groups = groups});
}

small_model random_resnet(rng& random) {
  return small_resnet({.depths = {between(random, 1, 2), between(random, 1, 2)},
                       .hidden_sizes = {4 * between(random, 1, 3), 4 * between(random, 1, 3)},
                       .embedding_size = between(random, 1, 6),
                       .layer_type = random() % 2 == 0 ? "basic" : "bottleneck"});
}

struct family_under_test {
  const char* name;
  std::function<small_model(rng&)> make;
};

const std::vector<family_under_test> families_under_test{
    {"mlp", random_mlp},
    {"gpt2", random_gpt},
    {"gpt2 in pieces", random_pieces},
    {"cnn", random_cnn},
    {"resnet", random_resnet}};

bool accepted(const plan_request& request, byte_count memory) {
  const device_info device{.name = "d", .memory = memory};
  try {
    make_plan({&request, 1}, {&device, 1});
    return true;
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::does_not_fit);
    return false;
  }
}

}  // namespace

TEST_CASE("of every family the smallest sufficient budget is accepted, 512 bytes less are refused, and no plan needs less "
          "than what is known before it is measured") {
  const auto& family = GENERATE(from_range(families_under_test));
  rng random(31);
  const bool in_bf16 = GENERATE(false, true) && family.name != std::string("resnet");  // which has running averages
  for (int i = 0; i < 25; ++i) {
    const auto model = in_bf16 ? rounded(family.make(random)) : family.make(random);
    const auto profile = profile_of(model, between(random, 1, 40));
    for (const auto& rule : {cut_rule{balanced_cut{}}, cut_rule{greedy_cut{}}, cut_rule{cut_points{0, 1}}}) {
      const plan_request request{.name = family.name,
                                 .model = model.body.get(),
                                 .profile = &profile,
                                 .micro_batches = 2,
                                 .rule = adamw({}),
                                 .cuts = rule};
      const auto least = smallest_budget({&request, 1});
      INFO(family.name << " number " << i << ", cuts by rule " << rule.index());
      CHECK(accepted(request, least));
      CHECK_FALSE(accepted(request, least - byte_count{512}));
      const auto known_before = least_memory_of(*model.body, request.rule, request.replicas, 2);
      const std::vector<device_info> two(2, device_info{.name = "d", .memory = least});
      CHECK(known_before.host() <= make_plan({&request, 1}, two).host_needed);
    }
  }
}
