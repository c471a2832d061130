// A model that moves between runs as its checkpoint has the bits of one that stays.

#include "tests/support/spilled_run.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/waiting_run.hpp"

#include "partition/checkpoint/checkpoint_folder.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <future>
#include <string>
#include <utility>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace moving_test {

namespace fs = std::filesystem;

void move(const std::string& model, std::future<void> paused, waiting_run& from, waiting_run& to) {
  paused.get();
  fs::remove_all(to.checkpoints(model));
  fs::create_directories(to.checkpoints(model).parent_path());
  fs::copy(from.checkpoints(model), to.checkpoints(model), fs::copy_options::recursive);
  (*to).resume(model);
}

TEST_CASE("a model that moves to another run and back has the bits of plain training", "[moving]") {
  auto models = std::vector{tiny_gpt(0.1, true), tiny_cnn()};
  for (auto& m : models) {
    m.steps = 60;
    m.evaluate_every = 10;
    m.cuts = {};
  }
  const temporary_folder folder;
  waiting_run a(folder.path() / "a", models, {.memory = 400_KiB});
  waiting_run b(folder.path() / "b", models, {.memory = 8_MiB});
  CHECK(a.phase_of(0) == model_phase::paused);
  auto first_leaves = a.steers_after(10, "model-0", model_command::pause);
  auto second_leaves = a.steers_after(40, "model-1", model_command::pause);
  auto first_returns = b.steers_after(30, "model-0", model_command::pause);
  (*a).resume("model-0");
  (*a).resume("model-1");
  move("model-0", std::move(first_leaves), a, b);
  move("model-0", std::move(first_returns), b, a);
  move("model-1", std::move(second_leaves), a, b);
  a.train_to_the_end(0);
  b.train_to_the_end(1);
  const report of_a = a.end(), of_b = b.end();
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto alone = train_spilled({models[i]}, {});
    REQUIRE(difference(train_plain(models[i]), alone, 0) == "");
    const auto& moved = (i == 0 ? of_a : of_b).models[i];
    CHECK(moved.status == model_status::finished);
    CHECK(moved.digest == alone.summary.models[0].digest);
    CHECK(moved.loss == alone.summary.models[0].loss);
    CHECK(moved.steps_before > 0);
  }
  CHECK(of_a.models[1].status == model_status::paused);
  CHECK(b.steps() >= 5);
}

TEST_CASE("a model that has ended is dropped, and trained again from an older checkpoint", "[moving]") {
  auto model = tiny_gpt(0.1, true);
  model.steps = 40;
  model.cuts = {};
  const temporary_folder folder;
  waiting_run run(folder.path(), {model}, {.memory = 8_MiB});
  auto paused = run.steers_after(10, "model-0", model_command::pause);
  (*run).resume("model-0");
  paused.get();
  const auto steps = newest_step(run.checkpoints("model-0"));
  REQUIRE(steps < 40);
  (*run).resume("model-0");
  run.train_to_the_end(0);
  CHECK_THROWS_WITH((*run).resume("model-0"), Catch::Contains("it has finished"));
  REQUIRE(newest_step(run.checkpoints("model-0")) == 40);
  fs::remove_all(list_checkpoints(run.checkpoints("model-0")).front());
  REQUIRE(newest_step(run.checkpoints("model-0")) == steps);
  run.steer("model-0", model_command::drop);
  CHECK(run.phase_of(0) == model_phase::paused);
  (*run).resume("model-0");
  run.train_to_the_end(0);
  CHECK((*run).status().models[0].steps == 40);
  const auto alone = train_spilled({model}, {});
  const auto r = run.end();
  CHECK(r.models[0].status == model_status::finished);
  CHECK(r.models[0].digest == alone.summary.models[0].digest);
  CHECK(r.models[0].loss == alone.summary.models[0].loss);
  CHECK(newest_step(run.checkpoints("model-0")) == 40);
}

TEST_CASE("models can only begin paused in a run that saves them", "[moving]") {
  CHECK_THROWS_WITH(session({.begin_paused = true}), Catch::Contains("give the run a folder"));
}

TEST_CASE("a model that is added to a run that begins paused, and waits, is taken back, or refused when the run ends",
          "[moving]") {
  auto model = tiny_gpt(0.1, true);
  model.steps = 1'000'000;
  model.cuts = {};
  const cpu_device device{.memory = 8_MiB};
  const temporary_folder folder;
  waiting_run a(folder.path(), {model}, device, nullptr, planned_host_memory({model}, {.devices = {device}}));
  (*a).resume("model-0");
  const auto add = [&](std::promise<fault>& refused) {
    std::promise<fault> waits;
    (*a).queue_model(
        describe(model, 1), [&](const fault& why) { waits.set_value(why); },
        [&](const fault& why) { refused.set_value(why); });
    return waits.get_future().get();
  };
  std::promise<fault> taken_back, ended;
  CHECK(!add(taken_back));
  a.steer("model-1", model_command::pause_between_steps);
  CHECK(taken_back.get_future().get().code == fault_code::cancelled);
  CHECK(!add(ended));
  CHECK(a.end().interrupted);
  CHECK(ended.get_future().get().code == fault_code::refused);
}

}  // namespace moving_test
