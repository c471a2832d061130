#include "partition/execute/model_update.hpp"

#include "models/optimizer/bf16.hpp"
#include "models/optimizer/gradient_clip.hpp"
#include "models/optimizer/rounded_gradient.hpp"
#include "models/random.hpp"
#include "tests/support/recorded_locker.hpp"
#include "tests/support/small_resnet.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

using namespace hydra;
using namespace hydra::test;
using namespace hydra::literals;

namespace {

struct values_of_one {
  std::vector<float> parameter, gradient, first_moment, second_moment;
  std::string tied_to;
};
using by_name = std::map<std::string, values_of_one>;

/// A tied GPT in three shards with gradients in host memory.
struct trained {
  explicit trained(const update_options& update)
      : arena(make_host_arena(64_MiB)),
        model(cut_model(small_gpt({.layers = 1, .width = 8, .heads = 2, .context = 6, .tied = true}),
                        {.cuts = {0, 1, 2}, .update = update})),
        homes(make_homes(*model, *arena)) {
    for (std::size_t s = 0; s < homes.size(); ++s) {
      homes[s].gradients = {arena->allocate(model->plan.shards[s].parameters, "gradients")};
      const auto g = homes[s].gradients.front()->floats();
      for (std::size_t i = 0; i < g.size(); ++i) {
        g[i] = static_cast<float>(random_normal(random_key({s}), i));
      }
    }
  }

  static std::vector<float> copy(const host_block_ptr& block, std::size_t offset, std::size_t n) {
    const auto slice = block->floats().subspan(offset, n);
    return {slice.begin(), slice.end()};
  }

  by_name read() const {
    by_name all;
    for (std::size_t s = 0; s < homes.size(); ++s) {
      for (const auto& p : model->shards[s].layout().parameters()) {
        auto& v = all[p.name];
        v.parameter = copy(homes[s].parameters, p.offset, p.elements);
        v.gradient = copy(homes[s].gradients.front(), p.offset, p.elements);
        v.first_moment = copy(homes[s].moments[0], p.state_offset, p.tied_to.empty() ? p.elements : 0);
        v.second_moment = copy(homes[s].moments[1], p.state_offset, p.tied_to.empty() ? p.elements : 0);
        v.tied_to = p.tied_to;
      }
    }
    return all;
  }

  std::unique_ptr<host_arena> arena;
  std::shared_ptr<sharded_model> model;
  std::vector<shard_home> homes;
};

/// The same on plain vectors: tied copies added to owners, clip, AdamW, owners copied to tied copies. Returns the norm.
float step_by_hand(by_name& all, const sharded_model& m, std::uint32_t step) {
  std::vector<float> norms;
  auto& owner = all.at("wte.weight");
  for (std::size_t i = 0; i < owner.gradient.size(); ++i) {
    owner.gradient[i] += all.at("lm_head.weight").gradient[i];
  }
  for (const auto& s : m.shards) {
    for (const auto& p : s.layout().parameters()) {
      if (p.tied_to.empty()) {
        norms.push_back(gradient_norm(all.at(p.name).gradient));
      }
    }
  }
  const auto norm = total_norm(norms);
  const auto max = static_cast<float>(m.update.clip_norm);
  for (auto& [name, v] : all) {
    if (v.tied_to.empty()) {
      apply_update(m.update, step, m.steps, max > 0 ? clip_coefficient(max, norm) : 1.0F,
                   {v.parameter, v.gradient, v.first_moment, v.second_moment});
    }
  }
  all.at("lm_head.weight").parameter = owner.parameter;
  return norm;
}

void check_equal(const by_name& a, const by_name& b) {
  for (const auto& [name, v] : a) {
    INFO(name);
    CHECK(v.parameter == b.at(name).parameter);
    CHECK(v.first_moment == b.at(name).first_moment);
    CHECK(v.second_moment == b.at(name).second_moment);
  }
}

}  // namespace

TEST_CASE("without clipping the steps of all shards do what is done by hand on whole parameters, in any order") {
  trained t(adamw({.learning_rate = 0.01}));
  auto expected = t.read();
  step_by_hand(expected, *t.model, 1);
  const model_update math(t.model);
  for (const std::size_t s : {2, 0, 1}) {
    math.step(s, 1, 1.0F, t.homes);
  }
  check_equal(expected, t.read());
}

TEST_CASE("with clipping the norm is that of whole parameters, ties counted once, and scales every gradient") {
  trained t(adamw({.learning_rate = 0.01, .clip_norm = 0.5}));
  auto expected = t.read();
  const auto norm = step_by_hand(expected, *t.model, 0);
  model_update math(t.model);
  for (const std::size_t s : {1, 2, 0}) {
    math.norms(s, t.homes);
  }
  CHECK(math.total_norm() == norm);
  for (const std::size_t s : {0, 1, 2}) {
    math.step(s, 0, math.clip_coefficient(math.total_norm()), t.homes);
  }
  check_equal(expected, t.read());
}

TEST_CASE("running averages keep out of norm, clipping and optimizer and move by what all micro-batches gathered") {
  const auto arena = make_host_arena(64_MiB);
  const auto model = cut_model(small_resnet({.depths = {1}, .hidden_sizes = {4}, .embedding_size = 3}),
                               {.micro_batches = 3, .update = adamw({.learning_rate = 0.01, .clip_norm = 0.5})});
  auto homes = make_homes(*model, *arena);
  homes[0].gradients = {arena->allocate(model->plan.shards[0].parameters, "gradients")};
  std::ranges::fill(homes[0].gradients.front()->floats(), 0.0F);
  const auto& all = model->shards[0].layout().parameters();
  const auto average =
      std::ranges::find(all, "resnet.embedder.embedder.normalization.running_var", &placed_parameter::name);
  const auto values = homes[0].parameters->floats().subspan(average->offset, average->elements);
  std::ranges::fill(homes[0].gradients.front()->floats().subspan(average->offset, average->elements), 2.0F);
  model_update math(model);
  math.norms(0, homes);
  CHECK(math.norms()[0].size() == static_cast<std::size_t>(std::ranges::count_if(all, &placed_parameter::trained)));
  CHECK(math.total_norm() == 0);
  math.step(0, 0, 0.1F, homes);
  const auto kept = static_cast<float>(std::pow(1 - 0.1, 3));  // the variance starts with 1
  CHECK(std::ranges::all_of(values, [&](float v) { return v == kept + 2; }));
}

TEST_CASE("a tied copy equals its owner after every step") {
  trained t(adamw({.learning_rate = 0.1}));
  const model_update math(t.model);
  for (const std::uint32_t step : {0u, 1u}) {
    for (const std::size_t s : {0, 1, 2}) {
      math.step(s, step, 1.0F, t.homes);
    }
    const auto all = t.read();
    CHECK(all.at("wte.weight").parameter == all.at("lm_head.weight").parameter);
  }
}

TEST_CASE("values that are not finite are refused by the name of their parameter after the last step, if at all") {
  trained t(adamw({.learning_rate = 0.01}));
  const auto& p = t.model->shards[1].layout().parameters().front();
  t.homes[1].gradients.front()->floats()[p.offset] = std::numeric_limits<float>::infinity();
  const model_update math(t.model);
  CHECK_NOTHROW(math.step(1, 1, 1.0F, t.homes));
  CHECK_THROWS_WITH(math.step(1, 2, 1.0F, t.homes),
                    Catch::Contains("the values of " + p.name + " after step 3, the last one, are not finite"));
  t.model->stop_on_nan = false;
  CHECK_NOTHROW(math.step(1, 2, 1.0F, t.homes));
}

TEST_CASE("the norms of the next step replace those of the last") {
  trained t(adamw({.clip_norm = 1}));
  model_update math(t.model);
  for (const std::size_t s : {0, 1, 2}) {
    math.norms(s, t.homes);
  }
  const auto before = math.total_norm();
  for (auto& home : t.homes) {
    std::ranges::fill(home.gradients.front()->floats(), 0.0F);
  }
  for (const std::size_t s : {0, 1, 2}) {
    math.norms(s, t.homes);
  }
  CHECK(before > 0);
  CHECK(math.total_norm() == 0);
}

TEST_CASE("a step rounds every new master once, those of tied copies and of the padding too") {
  const auto what = cut_model(rounded(small_gpt({.layers = 1, .width = 8, .heads = 2, .context = 6, .tied = true})),
                              {.cuts = {0, 1, 2}, .update = GENERATE(adamw({}), sgd({.momentum = 0.9}))});
  const auto arena = make_host_arena(64_MiB);
  auto homes = make_homes(*what, *arena);
  for (std::size_t s = 0; s < homes.size(); ++s) {
    homes[s].gradients = {arena->allocate(what->plan.shards[s].gradient_bytes(), "gradients")};
    std::ranges::fill(homes[s].gradients.front()->floats(), 0.01F);
  }
  model_update math(what);
  for (std::size_t s = 0; s < homes.size(); ++s) {
    math.step(s, 0, 1.0F, homes);
  }
  for (const auto& home : homes) {
    std::vector<std::uint16_t> expected(home.parameters->floats().size());
    to_bf16(home.parameters->floats(), expected);
    REQUIRE(home.copy->halves().size() == expected.size());
    CHECK(std::ranges::equal(home.copy->halves(), expected));
    CHECK(home.promoted() == home.copy);
  }
}

namespace {

/// The same model twice, tied, in three shards, with the same gradients in host memory: in bf16, and widened
/// beforehand. One parameter is larger than what is widened at a time.
struct rounded_twins {
  explicit rounded_twins(const update_options& update) {
    const auto gpt = small_gpt({.layers = 1, .width = 72, .heads = 2, .context = 6, .tied = true});
    for (const auto gradients : {precision::bf16, precision::fp32}) {
      models.push_back(cut_model(rounded(gpt, gradients), {.cuts = {0, 1, 2}, .update = update}));
      homes.push_back(make_homes(*models.back(), *arena));
      for (std::size_t s = 0; s < 3; ++s) {
        fill(s);
      }
    }
  }

  void fill(std::size_t s) {
    auto& written_back = homes.back()[s].gradients.front();
    written_back = arena->allocate(models.back()->plan.shards[s].gradient_bytes(), "gradients");
    for (std::size_t i = 0; i < models.back()->shards[s].layout().elements(); ++i) {
      const auto bits = to_bf16(static_cast<float>(random_normal(random_key({s}), i)));
      if (models.back()->model->gradients() == precision::bf16) {
        written_back->halves()[i] = bits;
      } else {
        written_back->floats()[i] = from_bf16(bits);
      }
    }
  }

  void check_equal() const {
    for (std::size_t s = 0; s < 3; ++s) {
      const auto &a = homes[0][s], &b = homes[1][s];
      CHECK(std::ranges::equal(a.parameters->floats(), b.parameters->floats()));
      CHECK(std::ranges::equal(a.copy->halves(), b.copy->halves()));
      CHECK(std::ranges::equal(a.moments[0]->floats(), b.moments[0]->floats()));
    }
  }

  std::unique_ptr<host_arena> arena = make_host_arena(64_MiB);
  std::vector<std::shared_ptr<sharded_model>> models;
  std::vector<std::vector<shard_home>> homes;
};

}  // namespace

TEST_CASE(
    "gradients in bf16 step like their values in fp32, ties and parameters of several pieces too, and stay as written "
    "back") {
  rounded_twins t(adamw({.learning_rate = 0.01}));
  const auto written_back = t.homes[0][0].gradients.front()->halves();
  const std::vector<std::uint16_t> before(written_back.begin(), written_back.end());
  for (const std::size_t twin : {0, 1}) {
    const model_update math(t.models[twin]);
    for (const std::size_t s : {2, 0, 1}) {
      math.step(s, 1, 1.0F, t.homes[twin]);
    }
  }
  t.check_equal();
  CHECK(std::ranges::equal(written_back, before));
}

TEST_CASE("norms of gradients in bf16 are those of their values in fp32, but for how large ones are added up") {
  rounded_twins t(adamw({.learning_rate = 0.01, .clip_norm = 0.5}));
  std::vector<model_update> math{model_update(t.models[0]), model_update(t.models[1])};
  for (const std::size_t twin : {0, 1}) {
    for (const std::size_t s : {1, 0, 2}) {
      math[twin].norms(s, t.homes[twin]);
    }
  }
  std::size_t large = 0;
  for (const std::size_t s : {0, 1, 2}) {
    std::size_t i = 0;
    for (const auto& p : t.models[0]->shards[s].layout().parameters()) {
      if (!p.trained()) {
        continue;
      }
      const auto rounded_norm = math[0].norms()[s].at(i), norm = math[1].norms()[s].at(i);
      INFO(p.name);
      CHECK((p.elements > widened_at_once ? rounded_norm == Approx(norm).epsilon(1e-6) : rounded_norm == norm));
      large += p.elements > widened_at_once ? 1 : 0;
      ++i;
    }
  }
  CHECK(large > 0);
  const auto coefficient = math[0].clip_coefficient(math[0].total_norm());
  for (const std::size_t twin : {0, 1}) {
    for (const std::size_t s : {0, 1, 2}) {
      math[twin].step(s, 0, coefficient, t.homes[twin]);
    }
  }
  t.check_equal();
}

TEST_CASE("moments of a shard that a device steps start as zeros where the memory held something else",
          "[device-steps]") {
  const auto m = cut_model(small_mlp({.layers = 2, .width = 4}), {.update = adamw({})});
  m->plan.shards[0].steps_on_device = true;
  recorded_locker locker;
  const auto arena = make_host_arena(1_MiB, {.lockers = {&locker}, .size = 64_KiB});
  auto before = arena->allocate(48_KiB, "what was there", host_use::transferred);
  std::ranges::fill(before->floats(), 3.0F);
  before.reset();
  const auto home = make_home(*arena, *m, 0);
  REQUIRE(home.moments.size() == 2);
  for (const auto& moments : home.moments)
    CHECK(std::ranges::all_of(moments->floats(), [](float x) { return x == 0; }));
}
