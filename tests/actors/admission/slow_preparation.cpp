#include "actors/admission/slow_preparation.hpp"

#include "actors/admission/planned_workload.hpp"
#include "models/families/mlp/mlp.hpp"
#include "models/optimizer/update_rule.hpp"
#include "runtime/device/cpu/cpu_device.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/log_lines.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using Catch::Contains;
using hydra::test::logger_to;

namespace {

/// The first sample is not there before a line says that it is waited for.
class late_points final : public data_source {
 public:
  explicit late_points(std::shared_future<void> heard) : heard_(std::move(heard)) {}

  std::size_t samples(split) const override { return 64; }
  tensor_spec sample_input() const override { return {{2}, element::f32}; }
  tensor_spec sample_target() const override { return {{}, element::i64}; }
  std::int64_t classes() const override { return 2; }
  std::string describe() const override { return "late points"; }
  std::size_t read(split, std::size_t, std::span<std::byte> input, std::span<std::byte> target) const override {
    if (!asked_.exchange(true)) heard_.wait_for(hydra::test::patience);
    std::memset(input.data(), 0, input.size());
    std::memset(target.data(), 0, target.size());
    return 1;
  }

 private:
  std::shared_future<void> heard_;
  mutable std::atomic<bool> asked_ = false;
};

}  // namespace

TEST_CASE("a plan that waits for the data of a model says so, and names the model", "[plan]") {
  std::promise<void> heard;
  std::atomic<bool> said = false;
  std::string first;
  const auto log = logger_to([&](const std::string& line) {
    if (!said.exchange(true)) {
      first = line;
      heard.set_value();
    }
  });
  const session_options options{.log = verbosity::quiet};
  const std::vector<model_description> models{
      {.name = "m",
       .chain = mlp({.layers = 1, .width = 8}),
       .data = {std::make_shared<late_points>(heard.get_future().share())},
       .batch_size = 8,
       .steps = 1,
       .optimizer = sgd({.learning_rate = 0.1})}};
  const std::vector<device_entry> devices{
      {"cpu", [](const std::string& name, device_use) { return make_cpu_device(name, {.memory = 16_MiB}); }}};
  const interrupt_flag interrupts;
  plan_workload({.options = options,
                 .models = models,
                 .devices = devices,
                 .interrupts = interrupts,
                 .log = log,
                 .patience = std::chrono::milliseconds(1)});
  CHECK_THAT(first, Contains("model 'm': ") && Contains(" takes longer than 1.0 ms; Hydra waits for it"));
}
