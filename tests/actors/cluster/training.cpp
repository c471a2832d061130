// Models that are trained by a cluster have the bits of plain training, whatever happens to its nodes.

#include "actors/cluster/cluster.hpp"
#include "tests/support/spilled_run.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

namespace fs = std::filesystem;
using cases = std::vector<exact_case>;

cases some_models(std::size_t n, std::uint32_t steps) {
  cases all;
  for (std::size_t i = 0; i < n; ++i) {
    auto m = i % 2 == 0 ? tiny_gpt(0.1, true) : tiny_cnn();
    m.steps = steps;
    m.seed = i + 1;
    m.cuts = {};
    all.push_back(m);
  }
  return all;
}

/// The session of a node with one device.
session_maker maker(const cases& models, byte_count memory) {
  return [models, memory](const node_accepted&, const fs::path& output) {
    auto s = std::make_unique<session>(session_options{.output = output,
                                                       .log = verbosity::quiet,
                                                       .checkpoint = {.every_steps = 8, .every_minutes = 0},
                                                       .begin_paused = true,
                                                       .keep_parameters = false});
    s->add_devices(1, cpu_device{.memory = memory});
    for (std::size_t i = 0; i < models.size(); ++i) s->add_model(describe(models[i], i));
    return s;
  };
}

cluster_workload workload_of(const cases& models, const fs::path& folder) {
  cluster_workload w{.run = 7, .name = "test", .folder = folder};
  for (std::size_t i = 0; i < models.size(); ++i) w.models.push_back("model-" + std::to_string(i));
  fs::create_directories(folder);
  return w;
}

/// A node with a network of its own, on a thread.
class test_node {
 public:
  test_node(const std::string& name, const fs::path& folder, const std::string& address, session_maker make)
      : network_({}, add_cluster_messages),
        member_({.name = name, .folder = folder / name, .patience = std::chrono::seconds(20)}, std::move(make)),
        end_(std::async(std::launch::async,
                        [this, address] { return member_.join(network_, parse_address(address)); })) {}

  void leave() { member_.leave(); }
  node_end end() { return end_.get(); }

 private:
  cluster_network network_;
  cluster_member member_;
  std::future<node_end> end_;
};

void check_bits(const report& of, const cases& models) {
  REQUIRE(of.models.size() == models.size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto alone = train_spilled({models[i]}, {});
    REQUIRE(difference(train_plain(models[i]), alone, 0) == "");
    const auto& m = of.models[i];
    CHECK(m.status == model_status::finished);
    CHECK(m.steps == models[i].steps);
    CHECK(m.digest == alone.summary.models[0].digest);
    CHECK(m.loss == alone.summary.models[0].loss);
    REQUIRE(m.validation.size() == alone.summary.models[0].validation.size());
    for (std::size_t v = 0; v < m.validation.size(); ++v)
      CHECK(m.validation[v].loss == alone.summary.models[0].validation[v].loss);
  }
}

}  // namespace

TEST_CASE("models that two nodes train have the bits of plain training", "[cluster]") {
  const temporary_folder folder;
  const auto models = some_models(4, 20);
  cluster c(workload_of(models, folder.path() / "run"), {.nodes = 2});
  test_node a("a", folder.path(), c.address(), maker(models, 64_MiB));
  test_node b("b", folder.path(), c.address(), maker(models, 400_KiB));
  const auto r = c.run();
  CHECK(a.end() == node_end::done);
  CHECK(b.end() == node_end::done);
  check_bits(r, models);
  CHECK(r.makespan >= r.bound());
  CHECK(r.bound() > duration{});
  CHECK(r.devices.size() == 2);
}
