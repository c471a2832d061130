// Layers, losses, data and callbacks of a user that throw, or do what they must not.

#include "actors/session/session.hpp"

#include "actors/report/run_metrics.hpp"
#include "models/families/mlp/mlp.hpp"
#include "models/layers/linear.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/text_file.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watched_device.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/rand_like.h>
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

using namespace hydra;
using namespace hydra::literals;
using Catch::Contains;
using Catch::StartsWith;

namespace {

using context_check = std::function<void(const layer_context&)>;

/// x -> x after a look at the context; output() says `said` values.
class user_layer final : public layer {
 public:
  explicit user_layer(context_check look, std::int64_t said = 8) : look_(std::move(look)), said_(said) {}
  std::vector<parameter_spec> parameters() const override { return {}; }
  tensor_spec output(const tensor_spec& input) const override { return {{input.shape[0], said_}, element::f32}; }
  at::Tensor forward(std::span<const at::Tensor>, const at::Tensor& x, const layer_context& c) const override {
    look_(c);
    return x.mul(1);
  }
  std::string signature() const override { return "user layer"; }

 private:
  context_check look_;
  std::int64_t said_;
};

/// Points of three classes.
struct user_data final : data_source {
  using reader = std::function<std::size_t(std::size_t)>;
  explicit user_data(reader read) : read_(std::move(read)) {}
  std::size_t samples(split part) const override { return part == split::train ? 64 : 0; }
  tensor_spec sample_input() const override { return {{8}, element::f32}; }
  tensor_spec sample_target() const override { return {{}, element::i64}; }
  std::int64_t classes() const override { return 3; }
  std::string describe() const override { return "user's points"; }
  std::size_t read(split, std::size_t i, std::span<std::byte> input, std::span<std::byte> target) const override {
    const float point[8] = {static_cast<float>(i % 7), static_cast<float>(i % 5), 1};
    const auto label = static_cast<std::int64_t>(i % 3);
    std::memcpy(input.data(), point, sizeof(point));
    std::memcpy(target.data(), &label, sizeof(label));
    return read_(i);
  }
  reader read_;
};

chain user_chain(const data_source& data, std::shared_ptr<const layer> middle, std::shared_ptr<const loss> objective) {
  chain c{"own", data.sample_input(), std::move(objective)};
  c.add("0.", std::make_shared<linear>(linear_options{.in = 8, .out = 8}));
  c.add("1.", std::move(middle));
  c.add("2.", std::make_shared<linear>(linear_options{.in = 8, .out = 3}));
  return c;
}

model_description user_model(const std::string& name, std::function<chain(const data_source&)> build) {
  return {.name = name,
          .chain = {.family = "own", .build = std::move(build)},
          .data = {std::make_shared<user_data>([](std::size_t) { return 1; })},
          .batch_size = 8,
          .steps = 6,
          .optimizer = sgd({.learning_rate = 0.01})};
}

model_description with_user_layer(const std::string& name, context_check look) {
  return user_model(name, [=](const data_source& data) {
    return user_chain(data, std::make_shared<user_layer>(look), cross_entropy());
  });
}

report trained(const std::vector<model_description>& models, int devices) {
  session s{{.log = verbosity::quiet}};
  s.add_devices(devices, cpu_device{.memory = 1_MiB});
  for (const auto& m : models) {
    s.add_model(m);
  }
  return s.run();
}

std::string refused_plan(const model_description& m) {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 1_MiB});
  s.add_model(m);
  try {
    s.plan();
  } catch (const fault_error& e) {
    return e.what_happened().text;
  }
  return {};
}

void no_trouble(const layer_context&) {}

}  // namespace

TEST_CASE("models with one bug in a layer lose no device, and the right one beside them has its bits") {
  const auto right = with_user_layer("right", no_trouble);
  std::vector<model_description> all;
  for (int i = 0; i < 6; ++i) {
    all.push_back(with_user_layer(fmt::format("wrong-{}", i), [](const layer_context& c) {
      if (c.step == 2) throw std::runtime_error("a bug");
    }));
  }
  all.push_back(right);
  const auto r = trained(all, 3), alone = trained({right}, 1);
  CHECK(std::ranges::none_of(r.devices, &device_report::lost));
  CHECK(r.models.back().status == model_status::finished);
  CHECK(r.models.back().digest == alone.models.back().digest);
  for (std::size_t i = 0; i + 1 < r.models.size(); ++i) {
    CHECK(r.models[i].status == model_status::failed);
    const auto where = Contains("layer 1 (\"1.\") of chain \"own\" (user layer), forward() of f32[8, 8]: a bug");
    CHECK_THAT(r.models[i].error.text, StartsWith("model '" + r.models[i].name + "' step 2 ") && where &&
                                           Contains("it has failed 3 times"));
  }
}

TEST_CASE("what a user's code throws in plan() names the model, the layer and what was asked, whatever is thrown") {
  CHECK(refused_plan(user_model("m", [](const data_source&) -> chain { throw std::runtime_error("boom"); })) ==
        "model 'm': chain: boom");
  const std::string in_forward = "model 'm': layer 1 (\"1.\") of chain \"own\" (user layer), forward() of f32[8, 8]: ";
  const auto throws = [](const layer_context&) { throw std::runtime_error("boom"); };
  CHECK(refused_plan(with_user_layer("m", throws)) == in_forward + "boom");
  CHECK(refused_plan(with_user_layer("m", [](const layer_context&) { throw 7; })) ==
        in_forward + "an exception was thrown that is not a std::exception");
  auto m = with_user_layer("m", no_trouble);
  for (const std::size_t bad : {0U, 5U}) {
    m.data = {
        std::make_shared<user_data>([=](std::size_t i) { return i == bad ? throw std::runtime_error("boom") : 1; })};
    CHECK(refused_plan(m) == fmt::format("model 'm': user's points: read() of training sample {}: boom", bad));
  }
}

TEST_CASE("plan() refuses a layer with another output than it says, an impure one, and a loss that is a mean") {
  struct mean_loss final : loss {
    at::Tensor sum(const at::Tensor& y, const at::Tensor& t) const override {
      return cross_entropy()->sum(y, t).div(t.numel());
    }
    std::string name() const override { return "mean"; }
  };
  struct noisy final : layer {
    std::vector<parameter_spec> parameters() const override { return {}; }
    tensor_spec output(const tensor_spec& input) const override { return input; }
    at::Tensor forward(std::span<const at::Tensor>, const at::Tensor& x, const layer_context&) const override {
      return x.add(at::rand_like(x));
    }
    std::string signature() const override { return "noisy"; }
  };
  const auto refusal = [](const std::shared_ptr<const layer>& middle, const std::shared_ptr<const loss>& objective) {
    return refused_plan(user_model("m", [=](const data_source& data) { return user_chain(data, middle, objective); }));
  };
  const auto good = std::make_shared<user_layer>(no_trouble);
  CHECK(refusal(good, cross_entropy()) == "");
  CHECK_THAT(refusal(good, std::make_shared<mean_loss>()),
             StartsWith("model 'm': loss \"mean\" of chain \"own\"") && Contains("it returns a mean"));
  CHECK_THAT(refusal(std::make_shared<noisy>(), cross_entropy()),
             StartsWith("model 'm': layer 1 (\"1.\")") && Contains("other bits the second time"));
  CHECK_THAT(refusal(std::make_shared<user_layer>(no_trouble, 9), cross_entropy()),
             StartsWith("model 'm': layer 2 (\"2.\")") && Contains("f32[1, 9]"));
}

TEST_CASE("data without a target that counts are refused; a first batch without one is not") {
  auto m = with_user_layer("m", no_trouble);
  m.data = {std::make_shared<user_data>([](std::size_t) { return 0; })};
  CHECK_THAT(refused_plan(m),
             StartsWith("model 'm': user's points: none of its 64 training samples has a target that counts"));
  m.data = {std::make_shared<user_data>([](std::size_t i) { return i < 40 ? 0 : 1; })};
  CHECK(refused_plan(m) == "");
}

TEST_CASE("a callback that asks to stop a model that is not there learns so from the report, once") {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 1_MiB});
  s.add_model(with_user_layer("m", no_trouble));
  s.on<step_completed>([](const step_completed&, control& c) { c.stop(model_id{9}); });
  const auto r = s.run();
  CHECK(r.all_finished());
  REQUIRE(r.notes.size() == 1);
  CHECK(r.notes[0] == "a callback has asked to stop model 9, but the run has models 0 to 0: nothing was stopped");
}

TEST_CASE("a report says why a device was lost, and what it did before") {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 1_MiB});
  s.add_device("cpu", [](const std::string& name) -> std::unique_ptr<device> {
    return std::make_unique<test::watched_device>(make_cpu_device(name, {.memory = 1_MiB}), test::dies(40));
  });
  for (const auto* name : {"a", "b"}) {
    auto m = with_user_layer(name, no_trouble);
    m.steps = 20;
    s.add_model(m);
  }
  const auto r = s.run();
  CHECK(r.all_finished());
  const auto& d = r.devices.at(1);
  REQUIRE(d.lost);
  CHECK_THAT(d.reason, Contains("the device has died, as the test wants"));
  CHECK(d.busy > duration{});
  CHECK(d.h2d_bytes > 0_B);
  CHECK_THAT(fmt::format("{}", fmt::join(r.notes, "\n")), Contains("device " + d.name + " was lost: " + d.reason));
}

TEST_CASE("a function that takes the answer of a command may throw: the run goes on") {
  session s{{.log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 1_MiB});
  s.add_model(with_user_layer("m", no_trouble));
  int answers = 0;
  s.on<step_completed>([&](const step_completed& e, control&) {
    if (e.done > 1) return;
    s.steer("nobody", model_command::pause, [&](const fault&) {
      ++answers;
      throw std::runtime_error("boom");
    });
    s.read_status({});  // nobody to tell
    s.read_status([&](const run_status&) {
      ++answers;
      throw 7;
    });
    s.status();  // answered after the two
  });
  CHECK(s.run().all_finished());
  CHECK(answers == 2);
}

TEST_CASE("a function that takes the lines of metrics.jsonl gets all of them, and may throw: the run goes on") {
  const test::temporary_folder folder;
  session s{{.output = folder.path() / "run", .log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 1_MiB});
  s.add_model(with_user_layer("m", no_trouble));
  std::string told;
  s.watch_metrics([&](const metrics_line& line) {
    CHECK(line.model == "m");
    told += line.text;
    throw std::runtime_error("boom");
  });
  CHECK(s.run().all_finished());
  CHECK_FALSE(told.empty());
  CHECK(told == read_text(folder.path() / "run" / metrics_file, text_kind::record));
  CHECK_THROWS_WITH(s.watch_metrics({}), Contains("this run has ended"));
}

TEST_CASE("models that the host cannot hold are refused before a layer of any is computed") {
  int computed = 0;
  session s{{.host_memory = 1_KiB, .log = verbosity::quiet}};
  s.add_devices(1, cpu_device{.memory = 1_MiB});
  s.add_model(user_model("small", [&](const data_source& data) {
    chain c{"own", data.sample_input(), cross_entropy()};
    return c.add("0.", std::make_shared<user_layer>([&](const layer_context&) { ++computed; }, 3));
  }));
  s.add_model(with_user_layer("large", no_trouble));
  CHECK_THROWS_WITH(s.plan(), StartsWith("model 'large' alone needs at least") && Contains("[host] memory allows 1.0 KiB"));
  CHECK(computed == 0);
}

TEST_CASE("a function that takes the refusal of a model that has waited may throw: the run goes on") {
  const auto build = [](session& s) {
    s.add_devices(1, cpu_device{.memory = 1_MiB});
    s.add_model(with_user_layer("m", no_trouble));
  };
  session planned{{.log = verbosity::quiet}};
  build(planned);
  const auto needed = planned.plan().host_needed;
  session s{{.host_memory = needed, .log = verbosity::quiet}};
  build(s);
  bool refused = false;
  s.on<step_completed>([&](const step_completed& e, control&) {
    if (e.done > 1) return;
    s.queue_model(with_user_layer("late", no_trouble), [&](const fault&) {
      refused = true;
      throw std::runtime_error("boom");
    });
    s.steer("late", model_command::stop, {});
    s.status();  // answered after that
  });
  CHECK(s.run().all_finished());
  CHECK(refused);
}
