// Models that are added to a run of a cluster have the bits of plain training, wherever they are trained.

#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/text_file.hpp"
#include "tests/actors/cluster/small_cluster.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace {

/// The "table" of an added model is its place among `models`, and the folder that it begins from.
std::function<model_description(const added_model&)> opens(const cases& models) {
  return [models](const added_model& m) {
    const auto comma = m.table.find(',');
    const auto place = static_cast<std::size_t>(std::stoul(m.table.substr(0, comma)));
    if (place >= models.size()) throw fault_error(fault_code::refused, "other data");
    auto d = describe(models[place], place);
    d.name = m.name;
    d.begins = m.table.substr(comma + 1);
    return d;
  };
}

cases first_of(const cases& models, std::size_t n) { return {models.begin(), models.begin() + static_cast<long>(n)}; }

std::size_t lines_of(const fs::path& run, const std::string& model) {
  const auto text = read_text(run / "metrics.jsonl", text_kind::record);
  std::size_t n = 0;
  for (auto at = text.find(model); at != std::string::npos; at = text.find(model, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("a model that is added to a run of a cluster has the bits of plain training", "[cluster]") {
  const temporary_folder folder;
  auto models = some_models(3, 20'000);
  const auto base = first_of(models, 2);
  under_way c(workload_of(base, folder.path() / "run"), {});
  test_node a("a", folder.path(), c->address(), maker(base, 8_MiB, c.steps(), slow, {}, opens(models)));
  c.train_on(10);
  c->add({.model = {.name = "model-2", .table = "2,"}, .steps = 20'000, .nodes = 2});
  CHECK(c.said("model-2 joins the run, on one node: parallel.nodes is for"));
  CHECK_THROWS_WITH(c->add({.model = {.name = "model-2", .table = "2,"}}), Catch::Contains("has it already"));
  c.wait_for("model-2 -> a");
  test_node b("b", folder.path(), c->address(), maker(base, 8_MiB, c.steps(), {}, {}, opens(models)));
  c.wait_for("-> b");
  a.leave();
  CHECK(a.end() == node_end::done);
  c.wait_for("model-2 -> b");
  c.train_on(50);
  for (std::size_t i = 0; i < models.size(); ++i) c->stop("model-" + std::to_string(i));
  const auto r = c.end();
  for (std::size_t i = 0; i < models.size(); ++i) models[i].steps = r.models[i].steps;
  check_bits(r, models, model_status::stopped, true);
  CHECK(b.end() == node_end::done);
}

TEST_CASE("an added model waits for a node that can train it", "[cluster]") {
  const temporary_folder folder;
  auto models = some_models(3, 20);
  models.erase(models.begin() + 1);  // it would need more staging bytes than the run keeps
  const auto base = first_of(models, 1);
  gate added;
  under_way c(workload_of(base, folder.path() / "run"), {});
  const opens_at_exit opens_later{added};
  test_node a("a", folder.path(), c->address(), held(maker(base, 8_MiB, c.steps()), 2, added));
  c.train_on(2);
  c->add({.model = {.name = "model-1", .table = "1,"}, .steps = 20});
  added.open();
  c.wait_for("model-1 is refused by a: this node takes no models that are added");
  test_node b("b", folder.path(), c->address(), maker(base, 8_MiB, c.steps(), {}, {}, opens(base)));
  c.wait_for("model-1 is refused by b: other data");
  test_node d("d", folder.path(), c->address(), maker(base, 8_MiB, c.steps(), {}, {}, opens(models)));
  check_bits(c.end(), models);
  CHECK(a.end() == node_end::done);
  CHECK(b.end() == node_end::done);
  CHECK(d.end() == node_end::done);
}

TEST_CASE("a model that begins from a kept state of another one has that one's steps, and their lines, once",
          "[cluster]") {
  const temporary_folder folder;
  auto models = some_models(1, 20'000);
  const auto run = folder.path() / "run";
  const auto base = models;
  under_way c(workload_of(base, run), {});
  test_node a("a", folder.path(), c->address(), maker(base, 8_MiB, c.steps(), slow, {}, opens(models)));
  c.train_on(5);
  CHECK_THROWS_WITH(c->keep("model-7"), Catch::Contains("no model"));
  const auto kept = c->keep("model-0");
  const auto saved = read_checkpoint(kept);
  CHECK(saved.standing.next.step >= 5);
  CHECK(saved.standing.next.begins_step());
  c->add({.model = {.name = "copy", .table = "0," + kept.string()}, .steps = 20'000});
  c.wait_for("copy -> a");
  test_node b("b", folder.path(), c->address(), maker(base, 8_MiB, c.steps(), {}, {}, opens(models)));
  c.wait_for("-> b");
  c.train_on(50);
  c->stop("model-0");
  c->stop("copy");
  const auto r = c.end();
  CHECK(a.end() == node_end::done);
  CHECK(b.end() == node_end::done);
  models.push_back(models[0]);
  for (std::size_t i = 0; i < models.size(); ++i) {
    models[i].steps = r.models[i].steps;
    const auto lines = r.models[i].loss.size() + r.models[i].validation.size();
    CHECK(lines_of(run, i == 0 ? "\"model-0\"" : "\"copy\"") == lines);
  }
  check_bits(r, models, model_status::stopped, true);
}

TEST_CASE("a state of a model that was stopped, or is paused, is there", "[cluster]") {
  const temporary_folder folder;
  const auto models = some_models(2, 1'000'000);
  const auto run = folder.path() / "run";
  under_way c(workload_of(models, run), {});
  test_node a("a", folder.path(), c->address(), maker(models, 8_MiB, c.steps()));
  c.train_on(20);
  c->pause("model-0");
  CHECK(read_checkpoint(c->keep("model-0")).standing.next.step == c->status().models[0].steps);
  c->stop("model-1");
  c.wait_for("model-1 has ended");
  CHECK(read_checkpoint(c->keep("model-1")).standing.stopped);
  c->interrupt();
  CHECK(c.end().interrupted);
  CHECK(a.end() == node_end::done);
  CHECK_THROWS_WITH(c->keep("model-0"), Catch::Contains("the run has ended"));
}
