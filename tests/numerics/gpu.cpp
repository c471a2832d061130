// Run by name on a machine with a GPU: gpu_tests "[gpu]". Spilled, shared and repeated runs against resident ones:
// bit for bit. The other tags are for apps/bench/gpu/device_parts.py, which gives each part a time limit.

#include "models/keyed_mask.hpp"
#include "models/optimizer/tensor_update.hpp"
#include "models/optimizer/update_rule.hpp"
#include "tests/support/cuda_plugin.hpp"
#include "tests/support/spilled_run.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/equal_ops.h>
#include <ATen/ops/randn_ops.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <utility>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

void require_gpu() {
  INFO(why_no_gpu());
  REQUIRE(why_no_gpu().empty());
}

struct gpu_run {
  int devices = 1;
  std::string numbers = "fp32", gradients = "fp32";
  bool cache = true;
  std::string pool = "arena";
  optimizer_place optimizer_on = optimizer_place::host;
};

spilled_result train_on_gpu(const std::vector<exact_case>& models, const gpu_run& how) {
  session s({.optimizer_on = how.optimizer_on, .log = verbosity::quiet, .ablation = {.cache = how.cache}});
  s.load_plugin(cuda_plugin_file());
  s.add_devices(how.devices, "cuda", {{"memory", "1GiB"}, {"context", 0_B}, {"precision", how.numbers},
                                    {"gradients", how.gradients}, {"pool", how.pool}});
  for (std::size_t i = 0; i < models.size(); ++i) {
    s.add_model(describe(models[i], i));
  }
  return with_parameters(s.run(), s);
}

exact_case gpt_in(const cut_points& cuts) {
  auto c = tiny_gpt(0.1, true);
  c.chain = gpt2({.layers = 3, .width = 64, .heads = 2, .context = 6, .dropout = 0.1, .attention_dropout = 0.1, .tied = true});
  c.cuts = cuts;
  c.batch_size = 16;
  c.micro_batches = 4;
  c.steps = 6;
  c.optimizer.clip_norm = 0.5;
  return c;
}

void require_same(const spilled_result& a, const spilled_result& b) {
  for (std::size_t i = 0; i < a.summary.models.size(); ++i) {
    REQUIRE(a.summary.models[i].error.text == "");
    REQUIRE(b.summary.models[i].error.text == "");
    REQUIRE(a.summary.models[i].loss == b.summary.models[i].loss);
    REQUIRE(a.summary.models[i].digest == b.summary.models[i].digest);
  }
}

}  // namespace

TEST_CASE("on a GPU spilled training equals resident training bit for bit", "[.][gpu][exactness]") {
  require_gpu();
  const auto [numbers, gradients] = GENERATE(std::pair<std::string, std::string>{"fp32", "fp32"},
                                             std::pair<std::string, std::string>{"bf16", "fp32"},
                                             std::pair<std::string, std::string>{"bf16", "bf16"});
  const std::string pool = GENERATE("arena", "expandable");
  const gpu_run how{.numbers = numbers, .gradients = gradients, .pool = pool};
  auto uncached = how, two = how;
  uncached.cache = false;
  two.devices = 2;
  const auto resident = train_on_gpu({gpt_in({0})}, {.numbers = numbers, .gradients = gradients});
  for (const cut_points& cuts : {cut_points{0, 3}, cut_points{0, 2, 4}, cut_points{0, 1, 2, 3, 4}}) {
    INFO(how.numbers << ", gradients in " << how.gradients << ", " << pool << ", " << cuts.size() << " shards");
    require_same(resident, train_on_gpu({gpt_in(cuts)}, uncached));
    require_same(resident, train_on_gpu({gpt_in(cuts)}, two));
  }
}

TEST_CASE("on a GPU a model does not notice the others", "[.][gpu]") {
  require_gpu();
  const std::vector models{gpt_in({0, 2, 4}), tiny_cnn(), gpt_in({0, 1, 2, 3, 4})};
  const auto together = train_on_gpu(models, {.devices = 2});
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto alone = train_on_gpu({models[i]}, {});
    REQUIRE(alone.summary.models[0].digest == together.summary.models[i].digest);
  }
}

TEST_CASE("a GPU's losses are those of the CPU but for rounding", "[.][gpu][losses]") {
  require_gpu();
  const auto on_cpu = train_spilled({gpt_in({0, 2, 4})}, {});
  for (const std::string numbers : {"fp32", "bf16"}) {
    const auto on_gpu = train_on_gpu({gpt_in({0, 2, 4})}, {.numbers = numbers});
    for (std::size_t i = 0; i < on_cpu.summary.models[0].loss.size(); ++i) {
      REQUIRE(on_gpu.summary.models[0].loss[i] == Approx(on_cpu.summary.models[0].loss[i]).epsilon(numbers == "fp32" ? 1e-4 : 3e-2));
    }
  }
}

TEST_CASE("a GPU drops what the CPU drops", "[.][gpu][kernels]") {
  require_gpu();
  const auto gpu = make_gpu({.name = "cuda:0", .options = {{"memory", std::string{"256MiB"}}, {"context", 0_B}}});
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    const at::Tensor x = at::_ops::randn::call(c10::fromIntArrayRefSlow({1000, 77}), type, std::nullopt, std::nullopt, std::nullopt);
    const at::Tensor there = keyed_mask(x.to(at::Device(gpu->info().torch_device)), 0.3, 99);
    REQUIRE(at::_ops::equal::call(keyed_mask(x, 0.3, 99), there.to(at::kCPU)));
  }
}

TEST_CASE("updates have the same bits on a GPU and on the CPU", "[.][gpu][kernels]") {
  require_gpu();
  const auto gpu = make_gpu({.name = "cuda:0", .options = {{"memory", std::string{"256MiB"}}, {"context", 0_B}}});
  const auto random = [] { return at::_ops::randn::call(c10::fromIntArrayRefSlow({77077}), at::kFloat, {}, {}, {}); };
  const auto there = [&](const at::Tensor& t) { return t.to(at::Device(gpu->info().torch_device)); };
  for (const auto& rule : {adamw({.learning_rate = 1e-2, .weight_decay = 0.1}), sgd({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true})}) {
    const bool two = moment_buffers(rule) > 1;
    update_tensors home{random(), random(), random(), two ? random().abs() : at::Tensor{}, random().to(at::kBFloat16)};
    const update_tensors far{there(home.parameters), there(home.gradients), there(home.first_moment),
                             two ? there(home.second_moment) : at::Tensor{}, there(home.copy)};
    for (std::uint32_t step = 0; step < 3; ++step) {
      apply_update(constants_of(rule, step, 3, 1.0F), home);
      apply_update(constants_of(rule, step, 3, 1.0F), far);
    }
    REQUIRE(at::_ops::equal::call(home.parameters, far.parameters.to(at::kCPU)));
    REQUIRE(at::_ops::equal::call(home.first_moment, far.first_moment.to(at::kCPU)));
    REQUIRE(at::_ops::equal::call(home.copy, far.copy.to(at::kCPU)));
  }
}

TEST_CASE("updated on a GPU or on the host, a run has the same bits", "[.][gpu]") {
  require_gpu();
  auto c = gpt_in({0, 2, 4});
  c.chain = gpt2({.layers = 3, .width = 64, .heads = 2, .context = 6, .dropout = 0.1, .tied = false});
  c.optimizer.clip_norm = 0;
  for (const std::string numbers : {"fp32", "bf16"}) {
    require_same(train_on_gpu({c}, {.numbers = numbers}),
                 train_on_gpu({c}, {.numbers = numbers, .optimizer_on = optimizer_place::device}));
  }
}

TEST_CASE("a thousand steps on a GPU stay in its budget", "[.][gpu][steps]") {
  require_gpu();
  auto c = gpt_in({0, 1, 2, 3, 4});
  c.steps = 1000;
  const auto many = train_on_gpu({c}, {});
  REQUIRE(many.summary.models[0].error.text == "");
  REQUIRE(many.summary.devices[0].peak <= many.summary.devices[0].budget);
}
