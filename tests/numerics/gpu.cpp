// Run by name on a machine with a GPU, gpu_tests "[gpu]", and by ctest on the GPU double. Spilled, shared and repeated
// runs against resident ones: bit for bit. The other tags are for apps/bench/gpu/device_parts.py, which gives each part
// a time limit.

#include "models/families/llama/llama.hpp"
#include "models/keyed_mask.hpp"
#include "models/optimizer/tensor_update.hpp"
#include "models/optimizer/update_rule.hpp"
#include "models/small_constant.hpp"
#include "tests/support/cuda_plugin.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/spilled_run.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/equal_ops.h>
#include <ATen/ops/randn_ops.h>
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
  int index = 0;   ///< which GPU
  std::string numbers = "fp32", gradients = "fp32";
  bool cache = true;
  std::string pool = "arena";
  std::string memory = "1GiB";
  optimizer_place optimizer_on = optimizer_place::host;
};

void add_gpus(session& s, const gpu_run& how) {
  s.load_plugin(cuda_plugin_file());
  s.add_devices(how.devices, "cuda", {{"index", how.index}, {"memory", how.memory}, {"context", 0_B},
                                    {"precision", how.numbers}, {"gradients", how.gradients}, {"pool", how.pool}});
}

spilled_result train_in(session& s, const std::vector<exact_case>& models) {
  for (std::size_t i = 0; i < models.size(); ++i) {
    s.add_model(describe(models[i], i));
  }
  return with_parameters(s.run(), s);
}

spilled_result train_on_gpu(const std::vector<exact_case>& models, const gpu_run& how) {
  session s({.optimizer_on = how.optimizer_on, .log = verbosity::quiet, .ablation = {.cache = how.cache}});
  add_gpus(s, how);
  return train_in(s, models);
}

/// After each step: how often the GPU double has counted these, together; nothing on a real GPU.
std::shared_ptr<std::vector<std::uint64_t>> counts_at_steps(session& s, const std::vector<const char*>& kinds) {
  const auto counts = std::make_shared<std::vector<std::uint64_t>>();
  s.on<step_completed>([=](const step_completed&, control&) {
    auto& n = counts->emplace_back();
    for (const auto* kind : kinds) n += counted_by_double(kind).value_or(0);
  });
  return counts;
}

exact_case gpt_in(const cut_points& cuts) {
  auto c = tiny_gpt(0.1, true);
  c.chain = gpt2(
      {.layers = 3, .width = 64, .heads = 2, .context = 6, .dropout = 0.1, .attention_dropout = 0.1, .tied = true});
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
  const std::array formats{std::array{"fp32", "fp32"}, std::array{"bf16", "fp32"}, std::array{"bf16", "bf16"}};
  const std::array pools{"arena", "expandable"};
  const std::array cuts{cut_points{0, 3}, cut_points{0, 2, 4}, cut_points{0, 1, 2, 3, 4}};
  std::map<std::size_t, spilled_result> resident;   // of each format
  for (const auto& row : combinations({formats.size(), pools.size(), cuts.size(), 2})) {
    const auto [numbers, gradients] = formats[row[0]];
    const bool two = row[3] == 1;
    INFO(numbers << ", gradients in " << gradients << ", " << pools[row[1]] << ", cut at " << cuts[row[2]].size()
                 << " places, " << (two ? "two devices" : "nothing stays"));
    if (!resident.contains(row[0])) {
      resident.emplace(row[0], train_on_gpu({gpt_in({0})}, {.numbers = numbers, .gradients = gradients}));
    }
    require_same(resident.at(row[0]), train_on_gpu({gpt_in(cuts[row[2]])}, {.devices = two ? 2 : 1,
                                                                           .numbers = numbers,
                                                                           .gradients = gradients,
                                                                           .cache = two,
                                                                           .pool = pools[row[1]]}));
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
      REQUIRE(on_gpu.summary.models[0].loss[i] ==
              Approx(on_cpu.summary.models[0].loss[i]).epsilon(numbers == "fp32" ? 1e-4 : 3e-2));
    }
  }
}

TEST_CASE("a GPU drops what the CPU drops", "[.][gpu][kernels]") {
  require_gpu();
  const auto gpu = make_gpu({.name = "cuda:0", .options = {{"memory", std::string{"256MiB"}}, {"context", 0_B}}});
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    const at::Tensor x =
        at::_ops::randn::call(c10::fromIntArrayRefSlow({1000, 77}), type, std::nullopt, std::nullopt, std::nullopt);
    const at::Tensor there = keyed_mask(x.to(at::Device(gpu->info().torch_device)), 0.3, 99);
    REQUIRE(at::_ops::equal::call(keyed_mask(x, 0.3, 99), there.to(at::kCPU)));
  }
}

TEST_CASE("a layer's constants are on a GPU what they are on the CPU, without a copy", "[.][gpu][kernels]") {
  require_gpu();
  const auto gpu = make_gpu({.name = "cuda:0", .options = {{"memory", std::string{"256MiB"}}, {"context", 0_B}}});
  const auto random = [](std::int64_t n) {
    return at::_ops::randn::call(c10::fromIntArrayRefSlow({n}), at::kFloat, {}, {}, {});
  };
  const at::Tensor there = random(1).to(at::Device(gpu->info().torch_device));
  const auto copies = counted_by_double("pageable copies");
  std::vector<std::pair<at::Tensor, at::Tensor>> made;
  for (const std::int64_t n : {1, 32, 512, 513, 1100}) {
    const at::Tensor home = random(n);
    made.emplace_back(home, small_constant(home, there));
  }
  REQUIRE(counted_by_double("pageable copies") == copies);
  for (const auto& [home, far] : made) REQUIRE(at::_ops::equal::call(home, far.to(at::kCPU)));
}

TEST_CASE("updates have the same bits on a GPU and on the CPU", "[.][gpu][kernels]") {
  require_gpu();
  const auto gpu = make_gpu({.name = "cuda:0", .options = {{"memory", std::string{"256MiB"}}, {"context", 0_B}}});
  const auto random = [] { return at::_ops::randn::call(c10::fromIntArrayRefSlow({77077}), at::kFloat, {}, {}, {}); };
  const auto there = [&](const at::Tensor& t) { return t.to(at::Device(gpu->info().torch_device)); };
  for (const auto& rule : {adamw({.learning_rate = 1e-2, .weight_decay = 0.1}),
                           sgd({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true})}) {
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

TEST_CASE("a GPU and a CPU share a run", "[.][gpu][mixed]") {
  require_gpu();
  std::vector models{gpt_in({0, 2, 4}), tiny_cnn(), gpt_in({0, 1, 2, 3, 4})};
  for (auto& m : models) m.steps = 12;
  session s({.log = verbosity::quiet});
  add_gpus(s, {});
  s.add_devices(1, {.memory = 8_MiB});
  const auto shared = train_in(s, models);
  for (const auto& d : shared.summary.devices) REQUIRE(d.busy > duration{});
  const auto on_cpu = train_spilled(models, {});
  for (std::size_t i = 0; i < models.size(); ++i) {
    REQUIRE(shared.summary.models[i].error.text == "");
    if (counted_by_double("work")) {  // with the CPU's kernels
      REQUIRE(shared.summary.models[i].digest == on_cpu.summary.models[i].digest);
    }
    REQUIRE(shared.summary.models[i].loss.back() == Approx(on_cpu.summary.models[i].loss.back()).epsilon(1e-3));
  }
}

TEST_CASE("two GPUs share a run", "[.][two-gpus]") {
  require_gpu();
  const std::vector models{gpt_in({0, 2, 4}), tiny_cnn(), gpt_in({0, 1, 2, 3, 4})};
  session s({.log = verbosity::quiet});
  add_gpus(s, {.index = 0});
  add_gpus(s, {.index = 1});
  const auto shared = train_in(s, models);
  for (const auto& d : shared.summary.devices) REQUIRE(d.busy > duration{});
  require_same(train_on_gpu(models, {.index = 1}), shared);
}

TEST_CASE("where memory is tight on a GPU, results stay", "[.][gpu][tight]") {
  require_gpu();
  std::vector<exact_case> models;
  for (const std::int64_t width : {1100, 640, 900, 300, 1000, 777}) {
    auto& m = models.emplace_back();
    m.chain = mlp({.layers = 5, .width = width, .dropout = 0.1});
    m.data = open_data({synthetic_classes{.features = 300, .samples = 64, .validation_samples = 16}, true}, 0);
    m.cuts = {0, 1, 2, 3, 4, 5};
  }
  require_same(train_on_gpu(models, {.memory = "66MiB"}), train_on_gpu(models, {}));
}

TEST_CASE("in the steps of a Llama on a GPU nothing is copied from memory that is not locked", "[.][gpu]") {
  require_gpu();
  auto c = gpt_in({0, 1, 2, 3});
  c.chain = llama({.layers = 2, .width = 32, .heads = 4, .kv_heads = 2, .hidden = 48, .context = 6});
  session s({.log = verbosity::quiet});
  add_gpus(s, {});
  const auto copies = counts_at_steps(s, {"pageable copies"});
  const auto on_gpu = train_in(s, {c});
  REQUIRE(on_gpu.summary.models[0].error.text == "");
  REQUIRE(copies->size() == c.steps);
  REQUIRE(copies->back() == copies->front());
}

TEST_CASE("a thousand steps on a GPU stay in its budget, and the host waits for none of them",
          "[.][gpu][steps][large]") {
  require_gpu();
  auto c = gpt_in({0, 1, 2, 3, 4});
  c.steps = 1000;
  session s({.log = verbosity::quiet});
  add_gpus(s, {});
  const auto waits = counts_at_steps(s, {"waits of the host", "pageable copies"});
  const auto many = train_in(s, {c});
  REQUIRE(many.summary.models[0].error.text == "");
  REQUIRE(many.summary.devices[0].peak <= many.summary.devices[0].budget);
  REQUIRE(waits->size() == 1000);
  REQUIRE(waits->back() == waits->front());
}
