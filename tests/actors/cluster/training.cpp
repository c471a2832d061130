// Models that are trained by a cluster have the bits of plain training, whatever happens to its nodes.

#include "actors/admission/identity.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "runtime/base/text_file.hpp"
#include "tests/actors/cluster/small_cluster.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

/// Of a run without repeated steps: each step, and each evaluation, has one line.
void check_lines(const fs::path& run, const cases& models) {
  std::vector<std::string> seen, expected;
  std::istringstream in(read_text(run / "metrics.jsonl", text_kind::record));
  for (std::string line; std::getline(in, line);) {
    const auto j = nlohmann::json::parse(line);
    seen.push_back(fmt::format("{} {} {}", j["model"].get<std::string>(), j["step"].get<std::uint32_t>(),
                               j.contains("validation") ? "evaluated" : "trained"));
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    for (std::uint32_t step = 1; step <= models[i].steps; ++step) {
      expected.push_back(fmt::format("model-{} {} trained", i, step));
      if (step % models[i].evaluate_every == 0) expected.push_back(fmt::format("model-{} {} evaluated", i, step));
    }
  }
  std::ranges::sort(seen);
  std::ranges::sort(expected);
  CHECK(seen == expected);
}

}  // namespace

TEST_CASE("models that two nodes train have the bits of plain training", "[cluster]") {
  const temporary_folder folder;
  const auto models = some_models(4, 20);
  const auto fails = [](const std::string&) { throw std::runtime_error("nobody hears"); };
  cluster c(workload_of(models, folder.path() / "run"), {.nodes = 2, .say = fails});
  test_node a("a", folder.path(), c.address(), maker(models, 8_MiB));
  test_node b("b", folder.path(), c.address(), maker(models, 400_KiB));
  const auto r = c.run();
  CHECK(a.end() == node_end::done);
  CHECK(b.end() == node_end::done);
  check_bits(r, models);
  check_lines(folder.path() / "run", models);
  CHECK(r.makespan >= r.bound());
  CHECK(r.bound() > duration{});
  CHECK(r.devices.size() == 2);
  CHECK_THROWS_WITH(c.status(), Catch::Contains("has ended"));
  CHECK_FALSE(fs::exists(keys_of_run(folder.path() / "run")));
}

TEST_CASE("a model in pieces is trained by a node with its coordinator's data", "[cluster]") {
  const temporary_folder folder;
  auto models = some_models(1, 4);
  models[0].chain = with_pieces(models[0].chain, 2);
  auto work = workload_of(models, folder.path() / "run");
  work.data = {data_lines_of(*models[0].data)};
  cluster c(std::move(work), {});
  test_node a("a", folder.path(), c.address(), maker(models, 8_MiB));
  check_bits(c.run(), models);
  CHECK(a.end() == node_end::done);
}

TEST_CASE("a node that joins in the middle of a run is used, one that leaves hands its models over", "[cluster]") {
  const temporary_folder folder;
  auto models = some_models(3, 20'000);
  under_way c(workload_of(models, folder.path() / "run"), {});
  test_node a("a", folder.path(), c->address(), maker(models, 400_KiB, c.steps(), slow));
  c.train_on(10);
  test_node b("b", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
  c.wait_for("-> b");
  c.train_on(50);
  a.leave();
  CHECK(a.end() == node_end::done);
  c.train_on(50);
  for (std::size_t i = 0; i < models.size(); ++i) c->stop("model-" + std::to_string(i));
  const auto r = c.end();
  CHECK(b.end() == node_end::done);
  for (std::size_t i = 0; i < models.size(); ++i) models[i].steps = r.models[i].steps;
  check_bits(r, models, model_status::stopped);
  CHECK_FALSE(fs::exists(folder.path() / "a" / "0000000000000007"));  // the coordinator has all of it
  CHECK(fs::exists(folder.path() / "run" / "nodes" / "a" / "ended" / "report.json"));
}

TEST_CASE("what a model saves on its way comes to the run folder while it is trained", "[cluster]") {
  const temporary_folder folder;
  const auto models = some_models(1, 20'000);
  const auto run = folder.path() / "run";
  under_way c(workload_of(models, run), {});
  test_node a("a", folder.path(), c->address(), maker(models, 8_MiB, c.steps(), slow));
  const auto saved = [&] { return newest_step(checkpoints_of(run / "checkpoints", "model-0")); };
  while (!saved()) c.train_on(1);
  CHECK(saved() < 20'000u);
  c->stop("model-0");
  CHECK(c.end().models[0].status == model_status::stopped);
  CHECK(a.end() == node_end::done);
}

TEST_CASE("the steps before a model's beginning are in metrics.jsonl once, however many nodes have them", "[cluster]") {
  const temporary_folder folder;
  auto models = some_models(1, 10);
  {
    session first({.output = folder.path() / "first", .log = verbosity::quiet});
    first.add_devices(1, cpu_device{.memory = 8_MiB});
    first.add_model(describe(models[0], 0));
    REQUIRE(first.run().all_finished());
  }
  models[0].steps = 20;
  const auto begins = list_checkpoints(checkpoints_of(folder.path() / "first" / "checkpoints", "model-0")).at(0);
  const auto make = [&](const node_accepted&, const node_place& place) {
    auto s = std::make_unique<session>(session_options{
        .output = place.output, .log = verbosity::quiet, .begin_paused = true, .keep_parameters = false});
    s->add_devices(1, cpu_device{.memory = 8_MiB});
    auto m = describe(models[0], 0);
    m.begins = begins;
    s->add_model(m);
    return s;
  };
  const auto run = folder.path() / "run";
  cluster c(workload_of(models, run), {.nodes = 2});
  test_node a("a", folder.path(), c.address(), make);
  test_node b("b", folder.path(), c.address(), make);
  CHECK(c.run().all_finished());
  CHECK(a.end() == node_end::done);
  CHECK(b.end() == node_end::done);
  std::vector<std::uint32_t> trained, expected(20);
  std::istringstream in(read_text(run / "metrics.jsonl", text_kind::record));
  for (std::string line; std::getline(in, line);) {
    const auto j = nlohmann::json::parse(line);
    if (!j.contains("validation")) trained.push_back(j["step"].get<std::uint32_t>());
  }
  std::ranges::sort(trained);
  std::iota(expected.begin(), expected.end(), 1u);
  CHECK(trained == expected);
}

TEST_CASE("a run of a cluster that is interrupted is resumed with the same results", "[cluster][.deep]") {
  const temporary_folder folder;
  const auto models = some_models(2, 120);
  std::string address;
  {
    under_way c(workload_of(models, folder.path() / "run"), {});
    test_node a("a", folder.path(), c->address(), maker(models, 8_MiB, c.steps(), slow));
    c.train_on(30);
    CHECK(std::ranges::all_of(c->status().models, [](const auto& m) { return m.steps == 0 || m.loss > 0; }));
    c->interrupt();
    const auto r = c.end();
    CHECK(a.end() == node_end::done);
    CHECK(r.interrupted);
    for (const auto& m : r.models) CHECK(m.status == model_status::interrupted);
  }
  under_way c(workload_of(models, folder.path() / "run"), {});
  test_node b("b", folder.path(), c->address(), maker(models, 400_KiB, c.steps()));
  check_bits(c.end(), models);
  CHECK(b.end() == node_end::done);
  CHECK(c.said("from step"));
}

TEST_CASE("a checkpoint that was damaged in the run folder is passed over for an older one", "[cluster][.deep]") {
  const temporary_folder folder;
  const auto models = some_models(2, 150);
  const auto run = folder.path() / "run";
  {
    under_way c(workload_of(models, run), {});
    test_node a("a", folder.path(), c->address(), maker(models, 8_MiB, c.steps(), slow));
    c.train_on(50);
    c->interrupt();
    REQUIRE(c.end().interrupted);
    a.end();
  }
  const auto saved = list_checkpoints(checkpoints_of(run / "checkpoints", "model-0"));
  REQUIRE(saved.size() >= 2);
  fs::resize_file(saved.front() / "shard-0000.safetensors", 1000);
  under_way c(workload_of(models, run), {});
  test_node b("b", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
  check_bits(c.end(), models);
  CHECK(b.end() == node_end::done);
  CHECK(c.said("damaged"));
}

TEST_CASE("a model does not fail by a damaged state that is not its newest one", "[cluster]") {
  const temporary_folder folder;
  auto models = some_models(1, 10);
  const auto run = folder.path() / "run";
  {
    session first({.output = run, .log = verbosity::quiet});
    first.add_devices(1, cpu_device{.memory = 8_MiB});
    first.add_model(describe(models[0], 0));
    REQUIRE(first.run().all_finished());
  }
  models[0].steps = 20;
  const auto of_model = checkpoints_of(run / "checkpoints", "model-0");
  fs::copy(list_checkpoints(of_model).at(0), of_model / "best-step-10");
  fs::resize_file(of_model / "best-step-10" / "shard-0000.safetensors", 1000);
  under_way c(workload_of(models, run), {});
  test_node a("a", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
  check_bits(c.end(), models);
  CHECK(a.end() == node_end::done);
  CHECK(c.said("best-step-10.damaged"));
}

TEST_CASE("nodes join a coordinator that is started again, and what they have saved is not lost", "[cluster][.deep]") {
  const temporary_folder folder;
  const auto models = some_models(2, 150);
  auto first = std::make_unique<under_way>(workload_of(models, folder.path() / "run"), cluster_options{});
  const auto address = (*first)->address();
  test_node a("a", folder.path(), address, maker(models, 8_MiB, first->steps(), slow));
  first->train_on(40);
  (*first)->interrupt();
  (*first)->interrupt();  // at once: as if it had died
  REQUIRE(first->end().interrupted);
  first.reset();
  under_way c(workload_of(models, folder.path() / "run"), {.listen = parse_address(address)});
  check_bits(c.end(), models);
  CHECK(a.end() == node_end::done);
  CHECK(c.said("was found saved at step"));
}

TEST_CASE("a node that has not planned yet keeps its states when all models are stopped before a run begins again",
          "[cluster]") {
  const temporary_folder folder;
  const auto models = some_models(1, 1'000'000);
  const auto run = folder.path() / "run";
  auto first = std::make_unique<under_way>(workload_of(models, run), cluster_options{});
  const auto address = (*first)->address();
  gate planned;
  const opens_at_exit opens{planned};
  std::promise<void> joined_again;
  std::size_t joins = 0;
  const auto make = maker(models, 8_MiB, first->steps());
  test_node a("a", folder.path(), address, [&](const node_accepted& what, const node_place& place) {
    if (++joins == 2) {
      joined_again.set_value();
      planned.wait();
    }
    return make(what, place);
  });
  first->train_on(20);
  (*first)->interrupt();
  (*first)->interrupt();  // at once: as if it had died
  REQUIRE(first->end().interrupted);
  first.reset();
  under_way c(workload_of(models, run), {.listen = parse_address(address), .nodes = 2});
  joined_again.get_future().wait();
  c->stop("model-0");
  CHECK(c.end().models[0].status == model_status::stopped);
  CHECK_THAT(read_text(run / "report.json", text_kind::record), Catch::Contains("\"stopped\""));
  planned.open();
  a.end();
  CHECK(newest_step(checkpoints_of(folder.path() / "a" / "0000000000000007" / "checkpoints", "model-0")));
}

TEST_CASE("a model that has ended on a node but could not be saved is trained there again", "[cluster][.deep]") {
  const temporary_folder folder;
  const auto models = some_models(1, 100);
  under_way c(workload_of(models, folder.path() / "run"), {});
  test_node a("a", folder.path(), c->address(), maker(models, 8_MiB, c.steps(), slow));
  c.train_on(20);
  const auto saved = checkpoints_of(folder.path() / "a" / "0000000000000007" / "checkpoints", "model-0");
  fs::rename(saved, folder.path() / "aside");
  fs::create_directory_symlink(folder.path() / "nowhere", saved);  // no file can be written there
  CHECK_THROWS_WITH(c->pause("model-0"), Catch::Contains("continues: it could not be saved"));
  c.wait_for("it has ended, but could not be saved");
  fs::remove(saved);
  check_bits(c.end(), models);
  CHECK(a.end() == node_end::done);
}

TEST_CASE("a model of a cluster is stopped with the step that has begun", "[cluster]") {
  const temporary_folder folder;
  auto models = some_models(2, 100);
  models[0].steps = 100000;
  under_way c(workload_of(models, folder.path() / "run"), {});
  test_node a("a", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
  c.train_on(50);
  CHECK_THROWS_WITH(c->stop("model-7"), Catch::Contains("no model"));
  c->stop("model-0");
  const auto r = c.end();
  CHECK(a.end() == node_end::done);
  CHECK(r.models[0].status == model_status::stopped);
  CHECK(r.models[0].steps < 100000);
  CHECK(r.models[0].digest.starts_with("sha256:"));
  CHECK(r.models[0].loss.size() == r.models[0].steps);
  CHECK(r.models[1].status == model_status::finished);
}

TEST_CASE("a model that was stopped before a run of a cluster was killed is stopped when it is resumed", "[cluster]") {
  const temporary_folder folder;
  auto models = some_models(2, 200);
  models[0].steps = 1'000'000;
  const auto run = folder.path() / "run";
  if (GENERATE(true, false)) {  // else it has no checkpoint
    under_way c(workload_of(models, run), {});
    test_node a("a", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
    c.train_on(20);
    c->interrupt();
    REQUIRE(c.end().interrupted);
    CHECK(a.end() == node_end::done);
  }
  const auto before = newest_step(checkpoints_of(run / "checkpoints", "model-0")).value_or(0);
  auto work = workload_of(models, run);
  work.stopped = {"model-0", "model-7"};
  cluster c(std::move(work), {});
  test_node a("a", folder.path(), c.address(), maker(models, 8_MiB));
  const auto r = c.run();
  CHECK(a.end() == node_end::done);
  CHECK(r.models[0].status == model_status::stopped);
  CHECK(r.models[0].steps >= before);
  CHECK(r.models[0].loss.size() == r.models[0].steps);
  CHECK(r.models[1].status == model_status::finished);
  CHECK(r.cluster.nodes[0].failures == 0);
}

TEST_CASE("a model of a cluster is paused, and continues with the same results when it is resumed", "[cluster]") {
  const temporary_folder folder;
  const auto models = some_models(2, 100);
  const auto run = folder.path() / "run";
  under_way c(workload_of(models, run), {});
  test_node a("a", folder.path(), c->address(), maker(models, 8_MiB, c.steps(), slow));
  c.train_on(20);
  c->pause("model-0");
  const auto paused = c->status().models[0];
  CHECK(paused.phase == model_phase::paused);
  CHECK(paused.steps < 100);
  CHECK(newest_step(checkpoints_of(run / "checkpoints", "model-0")) == paused.steps);
  CHECK_THROWS_WITH(c->pause("model-0"), Catch::Contains("it is paused"));
  CHECK_THROWS_WITH(c->resume("model-1"), Catch::Contains("not paused"));
  c.wait_for("model-1 has ended");
  CHECK(c->status().models[0].steps == paused.steps);
  CHECK(c.said("nothing is left to train but what is paused (model-0): the run waits"));
  CHECK_THROWS_WITH(c->pause("model-1"), Catch::Contains("has ended"));
  c->resume("model-0");
  check_bits(c.end(), models);
  CHECK(a.end() == node_end::done);
}

TEST_CASE("a paused model of a cluster is stopped where it is, or saved when the run is interrupted", "[cluster]") {
  const temporary_folder folder;
  auto models = some_models(2, 1'000'000);
  under_way c(workload_of(models, folder.path() / "run"), {});
  test_node a("a", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
  c.train_on(20);
  auto pausing = std::async(std::launch::async, [&] { c->pause("model-0"); });
  while (c->status().models[0].phase == model_phase::training) {
    pausing.wait_for(std::chrono::milliseconds(1));  // leaves the core to the run
  }
  c->stop("model-0");
  c->pause("model-1");
  try {
    pausing.get();  // it may have been paused before it was stopped
  } catch (const fault_error& e) {
    CHECK_THAT(e.what(), Catch::Contains("has ended"));
  }
  CHECK(c->status().models[0].phase == model_phase::stopped);
  c->interrupt();
  const auto r = c.end();
  CHECK(a.end() == node_end::done);
  CHECK(r.models[0].status == model_status::stopped);
  CHECK(r.models[1].status == model_status::interrupted);
  for (const auto& m : r.models) CHECK((m.steps > 0 && m.loss.size() == m.steps));
}

TEST_CASE("a node whose models would have other results is refused, and told why", "[cluster]") {
  const temporary_folder folder;
  const auto models = some_models(2, 30);
  auto others = models;
  others[1].seed = 99;
  under_way c(workload_of(models, folder.path() / "run"), {.nodes = 2});
  test_node a("a", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
  c.wait_for("node a has joined");
  test_node b("b", folder.path(), c->address(), maker(others, 8_MiB));
  CHECK(b.end() == node_end::refused);
  CHECK(c.said("seed: 99"));
  test_node d("d", folder.path(), c->address(), maker(models, 1_KiB, c.steps()));
  CHECK(d.end() == node_end::failed);
  test_node e("e", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
  check_bits(c.end(), models);
  CHECK(a.end() == node_end::done);
  CHECK(e.end() == node_end::done);
}

TEST_CASE("a node that cannot hold all models takes those that it can, whichever node comes first", "[cluster]") {
  const temporary_folder folder;
  auto models = some_models(3, 30);
  models[1] = tiny_gpt(0.1, true);
  models[1].steps = 30;
  models[1].evaluate_every = 10;
  models[1].cuts = {};
  models[1].batch_size = 64;  // in one micro-batch
  under_way c(workload_of(models, folder.path() / "run"), {});
  test_node small("small", folder.path(), c->address(), maker(models, 400_KiB, c.steps()));
  c.wait_for("small cannot train model-1");
  test_node large("large", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
  c.wait_for("model-1 -> large");
  check_bits(c.end(), models);
  CHECK_FALSE(c.said("model-1 -> small"));
  CHECK(small.end() == node_end::done);
  CHECK(large.end() == node_end::done);
}

namespace {

/// One that up to three nodes train together, and one that is trained alone.
cases shared_models(std::uint32_t steps) {
  auto all = some_models(2, steps);
  all[0] = tiny_gpt(0.1, false);
  all[0].batch_size = all[0].micro_batches = 6;
  all[0].replicas = 3;
  all[0].steps = steps;
  all[0].cuts = {};
  return all;
}

}  // namespace

TEST_CASE("a model that three nodes train together has the bits of plain training", "[cluster]") {
  const temporary_folder folder;
  const auto models = shared_models(30);
  under_way c(workload_of(models, folder.path() / "run"), {.nodes = 3});
  test_node a("a", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
  test_node b("b", folder.path(), c->address(), maker(models, 400_KiB, c.steps()));
  test_node d("d", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
  const auto r = c.end();
  CHECK(a.end() == node_end::done);
  CHECK(b.end() == node_end::done);
  CHECK(d.end() == node_end::done);
  check_bits(r, models);
  CHECK(r.makespan >= r.bound());
  CHECK(c.team_of("model-0") == 3);
  CHECK(r.cluster.nodes[1].models + r.cluster.nodes[2].models >= 2);
}

TEST_CASE("a model that nodes train together goes on with others when they come, leave or are interrupted",
          "[cluster]") {
  const temporary_folder folder;
  const auto key = cluster_keys::in(keys_of_run(folder.path() / "run")).key;
  std::string first_key;
  auto models = shared_models(100000);
  {
    under_way c(workload_of(models, folder.path() / "run"), {});
    test_node a("a", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
    c.train_on(10);
    test_node b("b", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
    c.wait_for_team("model-0", 2);
    c.train_on(20);
    test_node d("d", folder.path(), c->address(), maker(models, 400_KiB, c.steps()));
    c.wait_for_team("model-0", 3);
    c.train_on(20);
    b.leave();
    CHECK(b.end() == node_end::done);
    c.train_on(20);
    c->interrupt();
    const auto r = c.end();
    CHECK(r.interrupted);
    CHECK(a.end() == node_end::done);
    CHECK(d.end() == node_end::done);
    first_key = read_text(key, text_kind::key);
  }
  under_way c(workload_of(models, folder.path() / "run"), {});
  CHECK(read_text(key, text_kind::key) == first_key);  // nodes that try again are let in
  test_node a("a", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
  c.train_on(20);
  for (const auto& m : {"model-0", "model-1"}) c->stop(m);
  const auto r = c.end();
  CHECK(a.end() == node_end::done);
  for (std::size_t i = 0; i < models.size(); ++i) models[i].steps = r.models[i].steps;
  check_bits(r, models, model_status::stopped);
  CHECK(r.models[0].steps_before > 0);
  CHECK_FALSE(fs::exists(key));
}
